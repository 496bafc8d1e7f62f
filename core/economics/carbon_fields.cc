#include "core/base/field_table.h"
#include "core/economics/carbon.h"

namespace slipstick {

constexpr auto kCarbonInputsFields = Advanced(
    {Of<&CarbonInputs::fab_intensity>("fab_intensity", "Carbon intensity of the fab's electricity")
         .In(kGPerKWh)
         .AtLeast(0)
         .AtMost(5000)
         .Basic(),
     Of<&CarbonInputs::grid_intensity>("grid_intensity", "Carbon intensity of the data center's electricity")
         .In(kGPerKWh)
         .AtLeast(0)
         .AtMost(5000)
         .Basic(),
     Of<&CarbonInputs::materials>("materials", "Raw materials per wafer area").In(kGPerCm2).AtLeast(0),
     Of<&CarbonInputs::package>("package", "Packaging per device").In(kGram).AtLeast(0),
     Of<&CarbonInputs::laminate>("laminate", "Bare printed circuit board or package substrate, per area")
         .In(kGPerCm2)
         .AtLeast(0)
         .AtMost(10'000),
     Of<&CarbonInputs::heat_sink_mass>("heat_sink_mass", "Heat-sink mass per watt of TDP")
         .In(kGPerW)
         .AtLeast(0)
         .AtMost(10'000),
     Of<&CarbonInputs::heat_sink>("heat_sink", "Emissions per mass of heat sink").Between(0, 1000),
     Of<&CarbonInputs::regulators>("regulators", "Voltage regulators and connectors, per watt of TDP")
         .In(kGPerW)
         .AtLeast(0)
         .AtMost(10'000),
     Of<&CarbonInputs::assembly>("assembly", "Assembly and test, as a share of the parts' emissions").Between(0, 10),
     Of<&CarbonInputs::system>("system",
                               "Servers around the devices, switches and optics, per watt of their rated power")
         .In(kGPerW)
         .AtLeast(0)
         .AtMost(100'000)});
constinit const Fields Schema<CarbonInputs>::fields(kCarbonInputsFields);

}  // namespace slipstick
