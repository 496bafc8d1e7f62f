#include "core/base/bind_inputs.h"

#include <cstring>

#include "core/base/tally.h"

namespace slipstick::internal {

void BindNumbers(const Type& type, void* object, const std::string& path, std::string_view help,
                 const NodeOfNumber& node_of) {
  switch (type.kind) {
    case Kind::kQuantity:
    case Kind::kRatio: {
      if (!type.has_node) return;
      // Every Quantity type has the same memory layout.
      Ratio number;
      std::memcpy(&number, object, sizeof number);
      if (number.node() != nullptr) return;
      number = Ratio::FromBase(number.base(), node_of({path, number.base(), *type.dimension, help}));
      std::memcpy(object, &number, sizeof number);
      return;
    }
    case Kind::kOptional:
      if (void* held = type.optional.held(object)) BindNumbers(*type.inner, held, path, help, node_of);
      return;
    case Kind::kList:
      for (std::size_t i = 0; i < type.list.size(object); ++i)
        BindNumbers(*type.inner, type.list.at(object, i), path + "." + std::to_string(i), help, node_of);
      return;
    case Kind::kObject:
      for (const FieldRow& row : *type.fields)
        BindNumbers(*row.type, row.at(object), path + "." + std::string(row.facts.key), row.facts.help, node_of);
      return;
    case Kind::kCount: {
      if (!type.has_node) return;
      Tally& count = *static_cast<Tally*>(object);
      if (Ratio(count).node() != nullptr) return;
      count = count.With(node_of({path, static_cast<double>(Count{count}), *type.dimension, help}));
      return;
    }
    case Kind::kCountOrMax:
    case Kind::kFlag:
    case Kind::kText:
    case Kind::kChoice:
    case Kind::kEntry:
      return;
  }
}

}  // namespace slipstick::internal
