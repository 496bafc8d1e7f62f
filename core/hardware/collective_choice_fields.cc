#include "core/base/field_table.h"
#include "core/hardware/collective_choice.h"

namespace slipstick {

constexpr auto kCollectiveChoiceFields = Advanced(
    {Of<&CollectiveChoice::library>(
         "library",
         "Times of collectives: measured (what NCCL and engines reach on this wiring), analytic (the best "
         "algorithm known for the wiring, at line rate) or alpha_beta (textbook equations); absent: measured, "
         "and alpha_beta under the roofline framework and engine")
         .Basic(),
     Of<&CollectiveChoice::all_reduce>("all_reduce", "Algorithm of an all-reduce; auto: the fastest")
         .Label("All-reduce algorithm"),
     Of<&CollectiveChoice::all_gather>("all_gather", "Algorithm of an all-gather; auto: the fastest")
         .Label("All-gather algorithm"),
     Of<&CollectiveChoice::reduce_scatter>("reduce_scatter", "Algorithm of a reduce-scatter; auto: the fastest")
         .Label("Reduce-scatter algorithm"),
     Of<&CollectiveChoice::all_to_all>("all_to_all", "Algorithm of an all-to-all; auto: the fastest")
         .Label("All-to-all algorithm"),
     Of<&CollectiveChoice::send_recv>("send_recv", "Algorithm of a send; auto: the fastest").Label("P2P algorithm")});
constinit const Fields Schema<CollectiveChoice>::fields(kCollectiveChoiceFields);

}  // namespace slipstick
