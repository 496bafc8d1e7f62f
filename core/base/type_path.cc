#include "core/base/type_path.h"

#include "core/base/issue.h"

namespace slipstick::internal {
namespace {

const FieldRow* MemberOf(const Type& type, std::string_view key) {
  if (type.kind != Kind::kObject) return nullptr;
  for (const FieldRow& row : *type.fields) {
    if (row.facts.key == key) return &row;
  }
  return nullptr;
}

}  // namespace

const Type* TypeAt(const Type& type, std::string_view path) {
  if (type.kind == Kind::kOptional) return TypeAt(*type.inner, path);
  if (path.empty()) return &type;
  const std::size_t dot = path.find('.');
  const std::string_view member = path.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  if (type.kind == Kind::kList) {
    return IsPlace(member) ? TypeAt(*type.inner, rest) : nullptr;
  }
  const FieldRow* row = MemberOf(type, member);
  return row != nullptr ? TypeAt(*row->type, rest) : nullptr;
}

const FieldRow* FieldAt(const Type& type, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const Type* owner = dot == std::string_view::npos ? &type : TypeAt(type, path.substr(0, dot));
  const std::string_view member = dot == std::string_view::npos ? path : path.substr(dot + 1);
  return owner != nullptr ? MemberOf(*owner, member) : nullptr;
}

}  // namespace slipstick::internal
