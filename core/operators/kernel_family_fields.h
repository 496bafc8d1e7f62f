// The field tables of a family's file.
#pragma once

#include "core/base/field.h"
#include "core/operators/kernel_family.h"

namespace slipstick {

template <>
struct Schema<PrefillRow> {
  static const Fields fields;
};
template <>
struct Schema<PrefillTable> {
  static const Fields fields;
};
template <>
struct Schema<DecodeRow> {
  static const Fields fields;
};
template <>
struct Schema<CoreRow> {
  static const Fields fields;
};
template <>
struct Schema<CoreKernels> {
  static const Fields fields;
};
template <>
struct Schema<UnfusedRow> {
  static const Fields fields;
};
template <>
struct Schema<StepCoreTable> {
  static const Fields fields;
};
template <>
struct Schema<AttentionTable> {
  static const Fields fields;
};
template <>
struct Schema<LatentPrefillRow> {
  static const Fields fields;
};
template <>
struct Schema<LatentDecodeRow> {
  static const Fields fields;
};
template <>
struct Schema<SparseLatentRow> {
  static const Fields fields;
};
template <>
struct Schema<LatentTable> {
  static const Fields fields;
};
template <>
struct Schema<KernelTraits> {
  static const Fields fields;
};
template <>
struct Schema<GemmRow> {
  static const Fields fields;
};
template <>
struct Schema<L2Reuse> {
  static const Fields fields;
};
template <>
struct Schema<GemmTable> {
  static const Fields fields;
};
template <>
struct Schema<PowerFall> {
  static const Fields fields;
};
template <>
struct Schema<RuleTexts> {
  static const Fields fields;
};
template <>
struct Schema<DataSheetRules> {
  static const Fields fields;
};
template <>
struct Schema<ExpertRow> {
  static const Fields fields;
};
template <>
struct Schema<ExpertKernels> {
  static const Fields fields;
};
template <>
struct Schema<ExpertTable> {
  static const Fields fields;
};
template <>
struct Schema<RowwiseTable> {
  static const Fields fields;
};
template <>
struct Schema<RecurrenceTable> {
  static const Fields fields;
};
template <>
struct Schema<StepTable> {
  static const Fields fields;
};
template <>
struct Schema<LowLatencyRow> {
  static const Fields fields;
};
template <>
struct Schema<NormalRow> {
  static const Fields fields;
};
template <>
struct Schema<DomainRow> {
  static const Fields fields;
};
template <>
struct Schema<PeerReduceTable> {
  static const Fields fields;
};
template <>
struct Schema<ExpertExchangeTable> {
  static const Fields fields;
};
template <>
struct Schema<KernelFamily> {
  static constexpr std::string_view preset_kind = "kernel";
  static const Fields fields;
};

}  // namespace slipstick
