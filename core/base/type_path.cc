#include "core/base/type_path.h"

namespace slipstick::internal {

const Type* TypeAt(const Type& type, std::string_view path) {
  if (type.kind == Kind::kOptional) return TypeAt(*type.inner, path);
  if (path.empty()) return &type;
  const std::size_t dot = path.find('.');
  const std::string_view member = path.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  if (type.kind == Kind::kList) {
    const bool is_place = !member.empty() && member.find_first_not_of("0123456789") == std::string_view::npos;
    return is_place ? TypeAt(*type.inner, rest) : nullptr;
  }
  for (std::size_t i = 0; type.kind == Kind::kObject && i < type.row_count; ++i) {
    if (type.rows[i].facts.key == member) return TypeAt(*type.rows[i].type, rest);
  }
  return nullptr;
}

}  // namespace slipstick::internal
