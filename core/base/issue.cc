#include "core/base/issue.h"

namespace slipstick {

Issue Below(const std::string& owner, Issue issue) {
  issue.path = JoinPath(owner, issue.path);
  for (Fix& fix : issue.fixes) {
    fix.change.path = JoinPath(owner, fix.change.path);
    for (Change& also : fix.also) also.path = JoinPath(owner, also.path);
  }
  return issue;
}

}  // namespace slipstick
