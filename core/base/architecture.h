// Accelerator families that kernels are written for: one file each in core/presets/kernels.
#pragma once

#include "core/base/catalogue_entry.h"

namespace slipstick {

struct KernelFamily;  // operators/kernel_family.h
using Architecture = CatalogueEntry<KernelFamily>;
extern template class CatalogueEntry<KernelFamily>;

}  // namespace slipstick
