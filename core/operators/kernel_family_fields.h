// The field tables of a family's file.
#pragma once

#include "core/base/field.h"
#include "core/operators/kernel_family.h"

namespace slipstick {

FIELDS_OF(PrefillRow);
FIELDS_OF(PrefillTable);
FIELDS_OF(DecodeRow);
FIELDS_OF(CoreRow);
FIELDS_OF(CoreKernels);
FIELDS_OF(UnfusedRow);
FIELDS_OF(StepCoreTable);
FIELDS_OF(AttentionTable);
FIELDS_OF(LatentPrefillRow);
FIELDS_OF(LatentDecodeRow);
FIELDS_OF(SparseLatentRow);
FIELDS_OF(LatentTable);
FIELDS_OF(KernelTraits);
FIELDS_OF(GemmRow);
FIELDS_OF(L2Reuse);
FIELDS_OF(GemmTable);
FIELDS_OF(PowerFall);
FIELDS_OF(RuleTexts);
FIELDS_OF(DataSheetRules);
FIELDS_OF(ExpertRow);
FIELDS_OF(ExpertKernels);
FIELDS_OF(ExpertTable);
FIELDS_OF(RowwiseTable);
FIELDS_OF(RecurrenceTable);
FIELDS_OF(StepTable);
FIELDS_OF(LowLatencyRow);
FIELDS_OF(NormalRow);
FIELDS_OF(DomainRow);
FIELDS_OF(PeerReduceTable);
FIELDS_OF(ExpertExchangeTable);
template <>
struct Schema<KernelFamily> {
  static constexpr std::string_view preset_kind = "kernel";
  static const Fields fields;
};

}  // namespace slipstick
