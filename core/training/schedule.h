// Simulation of pipeline schedules: when each pass runs, and the length of the schedule.
#pragma once

#include <limits>
#include <vector>

#include "core/training/training_report.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {

// Start and end of every pass. A device runs its passes in the schedule's order (pass_order.h), each as soon as its
// inputs have arrived; a send to another device takes `transfer`. `passes` has stages · chunks entries, in the order in
// which a micro-batch visits the virtual stages. DualPipe has `stages` entries; the second half of its micro-batches
// visits them in reverse. If there are more than `most` passes, returns the first ones, equally many per stage.
std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes,
                                    Seconds transfer = {}, Count most = std::numeric_limits<Count>::max());

// Number of passes of a step, over all stages.
Count PassesOf(const PipelineShape& shape, const std::vector<StagePass>& passes);

// End of the last pass, without the timeline.
Seconds ScheduleLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer = {});

}  // namespace slipstick
