#include "core/advice/successors.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/catalogue/presets.h"
#include "core/scenario/cost_defaults.h"

namespace slipstick {
namespace {

// A cluster of the catalogue, with the properties by which it is compared.
struct Offer {
  std::string id, device, vendor, memory, fabric;
  Count year = 0, devices = 0, domain = 0;
  std::array<double, 3> capability{};  // 16-bit peak, memory capacity and bandwidth

  [[nodiscard]] bool IsAtLeast(const Offer& other) const {
    for (std::size_t i = 0; i < capability.size(); ++i) {
      if (capability[i] < other.capability[i]) return false;
    }
    return true;
  }
  [[nodiscard]] bool IsOfKind(const Offer& other) const {
    return vendor == other.vendor && memory == other.memory && fabric == other.fabric &&
           (devices == 1) == (other.devices == 1);
  }
};

double NumberInBase(const Json& json, const char* path) {
  const Json* value = MemberAt(json, path);
  return value != nullptr ? NumberIn(*value).value_or(0) : 0;
}

// "HBM3e" -> "HBM"
std::string KindOfMemory(const std::string& technology) {
  return technology.substr(0, technology.find_first_of("0123456789 "));
}

// Nothing for a device without a 16-bit rate in the catalogue, or one that is only announced.
std::optional<Offer> OfferOf(const Json& cluster) {
  const std::string id = TextAt(cluster, "device.preset");
  const Json* device = id.empty() ? nullptr : FindPreset("device", id);
  if (device == nullptr || TextAt(*device, "published.status") == "announced") return std::nullopt;
  Offer offer;
  offer.id = TextAt(cluster, "id");
  offer.device = TextAt(*device, "name");
  offer.vendor = TextAt(*device, "vendor");
  offer.memory = KindOfMemory(TextAt(*device, "memory.technology"));
  offer.fabric = TextAt(cluster, "networks.0.fabric");
  offer.year = static_cast<Count>(NumberInBase(*device, "year"));
  offer.devices = static_cast<Count>(NumberInBase(cluster, "devices"));
  offer.domain = static_cast<Count>(NumberInBase(cluster, "networks.0.size"));
  offer.capability = {std::max(NumberInBase(*device, "peak.bf16"), NumberInBase(*device, "peak.fp16")),
                      NumberInBase(*device, "memory.capacity"), NumberInBase(*device, "memory.bandwidth")};
  if (!(offer.capability[0] > 0)) return std::nullopt;
  return offer;
}

// Constant while the program runs.
const std::vector<Offer>& Offers() {
  static const auto& all = *new std::vector<Offer>([] {
    std::vector<Offer> offers;
    for (const Json& cluster : PresetCatalogue("cluster")) {
      if (std::optional<Offer> offer = OfferOf(cluster)) offers.push_back(std::move(*offer));
    }
    return offers;
  }());
  return all;
}

// Whether `other` makes `offer` pointless.
bool IsBeaten(const Offer& offer, const Offer& other) {
  if (!other.IsAtLeast(offer) || other.domain < offer.domain) return false;
  const bool is_variant =
      other.year == offer.year && other.capability[0] == offer.capability[0] && !offer.IsAtLeast(other);
  return other.year < offer.year || is_variant;
}

struct PublishedModel {
  SmallerModel model;
  std::string by;
  double year = 0, parameters = 0, context = 0;
};

// Models with known publisher, year and size. Constant while the program runs.
const std::vector<PublishedModel>& PublishedModels() {
  static const auto& all = *new std::vector<PublishedModel>([] {
    std::vector<PublishedModel> models;
    for (const Json& entry : PresetCatalogue("model")) {
      PublishedModel one{{TextAt(entry, "id"), TextAt(entry, "name")},
                         TextAt(entry, "published.by"),
                         NumberAt(entry, "published.year").value_or(0),
                         NumberAt(entry, "published.parameters").value_or(0),
                         NumberAt(entry, "context").value_or(0)};
      if (!one.by.empty() && one.year > 0 && one.parameters > 0) models.push_back(std::move(one));
    }
    return models;
  }());
  return all;
}

}  // namespace

std::vector<Successor> SuccessorsOf(const Json& scenario) {
  const std::string id = TextAt(scenario, "cluster.preset");
  const auto own = std::find_if(Offers().begin(), Offers().end(), [&](const Offer& one) { return one.id == id; });
  if (own == Offers().end()) return {};
  std::vector<const Offer*> newer;
  for (const Offer& one : Offers()) {
    if (one.IsOfKind(*own) && one.year >= own->year && one.IsAtLeast(*own) && !own->IsAtLeast(one))
      newer.push_back(&one);
  }
  std::vector<const Offer*> kept;
  for (const Offer* one : newer) {
    const auto beats = [one](const Offer* other) { return other != one && IsBeaten(*one, *other); };
    if (std::none_of(newer.begin(), newer.end(), beats)) kept.push_back(one);
  }
  std::stable_sort(kept.begin(), kept.end(), [&](const Offer* a, const Offer* b) {
    const bool other_a = a->domain != own->domain, other_b = b->domain != own->domain;
    return other_a != other_b ? other_b : a->year < b->year;
  });
  std::vector<Successor> successors;
  for (const Offer* one : kept) successors.push_back({one->id, one->device});
  return successors;
}

std::vector<SmallerModel> SmallerModelsOf(const Json& scenario) {
  const std::string id = TextAt(scenario, "model.preset");
  const std::vector<PublishedModel>& all = PublishedModels();
  const auto own = std::find_if(all.begin(), all.end(), [&](const PublishedModel& one) { return one.model.id == id; });
  if (own == all.end()) return {};
  std::vector<const PublishedModel*> smaller;
  for (const PublishedModel& one : all) {
    if (one.by == own->by && one.year >= own->year && one.parameters < own->parameters) smaller.push_back(&one);
  }
  // Of two models with the same size, the one with the longer context: a later release with the same shape.
  std::stable_sort(smaller.begin(), smaller.end(), [](const PublishedModel* a, const PublishedModel* b) {
    return a->parameters != b->parameters ? a->parameters > b->parameters : a->context > b->context;
  });
  std::vector<SmallerModel> models;
  for (const PublishedModel* one : smaller) models.push_back(one->model);
  return models;
}

}  // namespace slipstick
