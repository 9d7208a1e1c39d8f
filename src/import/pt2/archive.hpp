// A PT2 archive: the zip file that torch.export.save() writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "import/pt2/value.hpp"
#include "import/zip.hpp"
#include "ir/tensor.hpp"

namespace rung::pt2 {

class Archive {
 public:
  // Maps the file and reads its directory. Errors: no zip archive, or none of an exported program.
  static Result<std::shared_ptr<const Archive>> open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  // Returns the JSON of the program. Errors: missing, several programs, not JSON.
  Result<nlohmann::json> program() const;
  // Returns a weight or a constant by its name in the program. Errors: missing; kept as a pickle; a dtype, strides or
  // an offset that its bytes cannot have.
  Result<std::shared_ptr<const Weight>> weight(const std::string& name) const;
  // Returns whether a weight is of complex64: weight() gives its parts, with one axis more, of two.
  bool is_complex(const std::string& name) const;
  // Returns a weight of few elements of float64; none: it is of another type, or has more. Errors: those of weight().
  Result<std::optional<Doubles>> doubles(const std::string& name) const;

 private:
  explicit Archive(std::shared_ptr<MappedFile> file) : file_(std::move(file)) {}
  Status find_members();
  struct Payload;
  Status read_contents(std::string_view folder);
  static Payload read_payload(const std::string& folder, const nlohmann::json& entry);
  Result<std::span<const std::byte>> bytes_of(const std::string& name, const Payload& payload) const;
  Result<nlohmann::json> json(const std::string& name) const;

  std::shared_ptr<MappedFile> file_;
  std::map<std::string, ZipMember, std::less<>> members_;  // by name below the archive's one folder
  std::map<std::string, std::shared_ptr<const Payload>, std::less<>> payloads_;  // of weights and constants
};

}  // namespace rung::pt2
