#pragma once

#include "tributary/coordinator/finished_run.h"

namespace tributary {

// Where each device's time and bytes went, as a table; by group where there are many.
void PrintDevices(const FinishedRun& result);

}  // namespace tributary
