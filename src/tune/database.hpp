// The tuning database: the kernel that won each problem on a device with given libraries, and the choices and rungs
// that made a whole model faster. It is one JSON file that a person can read and edit; it is written atomically and
// merged under a lock, and each entry is validated again when it is used.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "tune/candidate_result.hpp"
#include "tune/margin.hpp"

namespace rung {

// The results of tuning one problem.
struct TunedProblem {
  KernelChoice choice;
  std::vector<Candidate> candidates;
  std::optional<Margin> margin = {};  // none: put in by hand, or by an earlier version (then measured again)
  bool lost = false;                  // the winner made a whole model slower
};

// Findings from climbs of a whole model.
struct RefinedModel {
  std::map<std::string, KernelChoice> kept;  // by problem: the model ran faster with it
  std::set<std::string> tried;               // "problem: kernel parameter=value"
  // Speed-up factors by the climb's change, such as "fusion" or "without fusion", from its last race.
  std::map<std::string, double> gains = {};
};

class TuningDatabase {
 public:
  // An absent file is an empty database; with an empty path nothing is read or saved. A damaged file is an error that
  // names the path (it is not overwritten). `device` and the library versions are part of every key.
  static Result<TuningDatabase> open(std::string path, std::string device);

  // Returns null for an unknown problem.
  const TunedProblem* find(const std::string& problem) const { return problems_.find(problem); }
  void put(const std::string& problem, TunedProblem tuned);
  // Returns whether this climb put the entry here, not read it. It is then the best known, sure or not.
  bool is_new(const std::string& problem) const { return new_.contains(problem); }
  bool is_old(const std::string& problem) const { return find(problem) && !is_new(problem); }
  // Marks that the winner lost on a whole model: later climbs measure the problem again. Ignores unknown problems.
  void mark_lost(const std::string& problem);
  const RefinedModel* find_model(const std::string& model) const { return models_.find(model); }
  void put_model(const std::string& model, RefinedModel refined) { models_.put(model, std::move(refined)); }
  // Merges new entries into the file as it is now: other climbs may have written meanwhile. Waits for another process's
  // lock once, at most a second. Errors (after which the next call saves all entries): unwritable folder, a file
  // damaged meanwhile, the lock.
  Status save();
  // Counts the new problems that are in the file, and those that are not.
  size_t saved() const { return saved_.size(); }
  size_t unsaved() const;
  const std::string& path() const { return path_; }

 private:
  template <class Entry>
  struct Section {
    std::map<std::string, Entry> known, added;  // new entries are in both until saved
    const Entry* find(const std::string& name) const {
      auto it = known.find(name);
      return it == known.end() ? nullptr : &it->second;
    }
    void put(const std::string& name, Entry entry) { known[name] = added[name] = std::move(entry); }
  };

  TuningDatabase(std::string path, std::string device) : path_(std::move(path)), device_(std::move(device)) {}
  std::string path_, device_;
  Section<TunedProblem> problems_;
  Section<RefinedModel> models_;
  std::set<std::string> new_, saved_;
  bool waited_ = false;  // waited for the lock without getting it
};

// Returns the file tuning.json in user_cache_folder().
std::string default_database_path();
// Returns versions of the kernel libraries: "rung 0.1.0, oneDNN 2.6.3, OpenBLAS 0.3.21".
std::string library_versions();
// Returns those that entries of a device belong to. A processor's libraries run nothing on a GPU, and the fingerprint
// of a GPU has its own: entries there are of this release alone.
std::string versions_for(const std::string& device);

}  // namespace rung
