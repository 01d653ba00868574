#pragma once

#include <tributary/v1/fleet.pb.h>

#include "tributary/fleet/remote/field_reader.h"
#include "tributary/fleet/remote/messages.h"

namespace tributary::remote {

// Of wire.cc, the messages of devices that meet each other.

void PutMeeting(const MeetingPlan& from, v1::Meeting& to);
MeetingPlan TakeMeeting(const v1::Meeting& from, FieldReader& reader);
void PutMet(const std::vector<Met>& from, v1::Answer& to);
std::vector<Met> TakeMet(const v1::Answer& from, FieldReader& reader);
// An advertised address that can be dialled, or none.
std::string TakeAddress(const std::string& from, const char* field, FieldReader& reader);

void PutAbsent(const Absent& from, v1::Absent& to);
Absent TakeAbsent(const v1::Absent& from);
void PutRelay(const Relay& from, v1::Relay& to);
Relay TakeRelay(const v1::Relay& from, FieldReader& reader);
void PutRelayed(const Relayed& from, v1::Relayed& to);
Relayed TakeRelayed(const v1::Relayed& from, FieldReader& reader);

}  // namespace tributary::remote
