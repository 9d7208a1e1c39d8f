// Reads an assembler's text line by line: functions with their labels, directives, metadata.
// SPDX-License-Identifier: Apache-2.0
// Source: "Code Object V5 Metadata" and the directives in LLVM's "User Guide for AMDGPU Backend".
#include "amdgpu/code/assembly.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <unordered_map>

#include "amdgpu/isa/parse_instruction.hpp"
#include "amdgpu/isa/parse_operand.hpp"
#include "base/json.hpp"
#include "base/trimmed.hpp"

namespace rung::amdgpu {
namespace {

// The state of a function while its text is read.
struct Function {
  AssemblyKernel made;
  std::unordered_map<std::string_view, uint64_t> labels;      // offsets
  std::vector<std::pair<size_t, std::string_view>> branches;  // indices of instructions, and the labels they go to
  std::optional<uint64_t> first_address;                      // in objdump's text
  uint64_t next_offset = 0;
  std::array<uint32_t, 5> registers{};  // by OperandKind: the highest register that the code names, plus one
};

// The words about a kernel that stand apart from its code.
struct Description {
  std::map<std::string_view, uint32_t> directives, metadata;  // ".amdhsa_next_free_vgpr", ".vgpr_count"
};

class Reader {
 public:
  explicit Reader(std::optional<Isa> isa) : isa_(isa) {}
  Status read(std::string_view text);
  Result<std::vector<AssemblyKernel>> finish();

 private:
  Status line(std::string_view text);
  Status directive(std::string_view text);
  Status kernel_directive(std::string_view name, std::string_view value);
  void metadata(std::string_view text);
  bool label(std::string_view text);
  void begin_function(std::string_view name);
  void instruction(std::string_view text, std::string_view comment);
  void note_comment(std::string_view comment);
  Status resolve(Function& function) const;
  Status describe(Function& function) const;
  void describe_by_code(Function& function) const;

  std::optional<Isa> isa_;
  std::vector<Function> functions_;
  std::map<std::string, Description, std::less<>> descriptions_;
  std::string_view kernel_;                    // the kernel whose directives are being read
  std::map<std::string_view, uint32_t> item_;  // an item of the metadata's list, while it is read
  size_t item_column_ = 0;                     // the column where its keys begin; 0: no item yet
  bool in_function_ = false, in_metadata_ = false, in_kernels_ = false;
  std::string_view item_name_;
  size_t line_ = 0;
};

Status Reader::read(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    ++line_;
    if (Status good = line(text.substr(0, end)); !good) return fail_in(good.error(), "line {}", line_);
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

// Splits a line into code and its comment, "; comment" or "// comment".
std::pair<std::string_view, std::string_view> split_comment(std::string_view text) {
  const size_t at = std::min(text.find(';'), text.find("//"));
  if (at == text.npos) return {trimmed(text), {}};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at))};
}

Status Reader::line(std::string_view text) {
  if (trimmed(text) == ".end_amdgpu_metadata") {
    in_metadata_ = false;
    return {};
  }
  if (in_metadata_) {
    metadata(text);
    return {};
  }
  const auto [code, comment] = split_comment(text);
  note_comment(comment);
  if (code.empty() || label(code)) return {};
  if (code.front() == '.') return directive(code);
  if (in_function_) instruction(code, comment);
  return {};
}

// Reads the compiler's comment behind a function.
void Reader::note_comment(std::string_view comment) {
  constexpr std::string_view key = "; codeLenInByte = ";
  if (functions_.empty() || !comment.starts_with(key)) return;
  if (const auto bytes = parse_integer(comment.substr(key.size())); bytes && *bytes > 0)
    functions_.back().made.listing.bytes = static_cast<uint64_t>(*bytes);
}

// Reads "0000000000001900 <name>:", "name:", ".LBB0_2:". Local labels begin with .L, or have no address in objdump's.
bool Reader::label(std::string_view text) {
  if (!text.ends_with(":") || text.find(' ') != text.rfind(' ')) return false;
  std::string_view name = text.substr(0, text.size() - 1);
  const size_t open = name.find('<');
  const bool dumped = open != name.npos && name.ends_with(">");
  const bool local = dumped ? open == 0 : name.starts_with(".L") || name.starts_with("BB");
  if (!dumped && name.find(' ') != name.npos) return false;
  if (dumped) name = name.substr(open + 1, name.size() - open - 2);
  if (name.starts_with(".Lfunc_end"))
    in_function_ = false;
  else if (!local)
    begin_function(name);
  else if (in_function_)
    functions_.back().labels.emplace(name, functions_.back().next_offset);
  return true;
}

void Reader::begin_function(std::string_view name) {
  in_function_ = true;
  functions_.emplace_back();
  functions_.back().made.info.name = std::string(name);
}

// Returns the address in objdump's words about a line: "00000000190C: DC5C8000 047F0002".
std::optional<uint64_t> address_in(std::string_view comment) {
  if (!comment.starts_with("//")) return std::nullopt;
  comment = trimmed(comment.substr(2));
  uint64_t address = 0;
  const auto [end, error] = std::from_chars(comment.data(), comment.data() + comment.size(), address, 16);
  if (error != std::errc{} || end == comment.data() + comment.size() || *end != ':') return std::nullopt;
  return address;
}

void Reader::instruction(std::string_view text, std::string_view comment) {
  Function& function = functions_.back();
  Listing& listing = function.made.listing;
  const auto address = address_in(comment);
  if (address && !function.first_address) function.first_address = *address;
  const uint64_t offset =
      address && *address >= *function.first_address ? *address - *function.first_address : function.next_offset;
  if (offset < function.next_offset) return void(++listing.undecoded);  // a place already passed
  function.next_offset = offset + 4;
  const auto parsed = parse_instruction(text);
  if (!parsed) return void(++listing.undecoded);
  if (!parsed->goal.empty()) function.branches.emplace_back(listing.instructions.size(), parsed->goal);
  const auto note = [&](const InstructionOperand& operand) {
    uint32_t& most = function.registers[static_cast<size_t>(operand.kind)];
    if (operand.kind != OperandKind::scalar || operand.number < kFlatScratch)
      most = std::max<uint32_t>(most, operand.number + operand.registers);
  };
  note(parsed->instruction.destination), note(parsed->instruction.carry_out);
  for (size_t s = 0; s < parsed->instruction.source_count; ++s) note(parsed->instruction.sources[s]);
  listing.instructions.push_back({offset, parsed->instruction, parsed->whole});
}

Status Reader::directive(std::string_view text) {
  const size_t space = std::min(text.find(' '), text.find('\t'));
  const std::string_view name = text.substr(0, space), value = trimmed(text.substr(std::min(space, text.size())));
  if (name == ".amdgcn_target" || name == ".target") {
    for (const IsaInfo& info : kIsas)
      if (value.find(info.name) != value.npos) return isa_ = info.isa, Status{};
    return bad_file("got the architecture {}, wanted gfx90a, gfx942 or gfx950", valid_utf8(value));
  }
  if (name == ".amdgpu_metadata") in_metadata_ = true, in_kernels_ = false, item_column_ = 0;
  if (name == ".amdhsa_kernel") kernel_ = value, descriptions_[std::string(kernel_)];
  if (name == ".end_amdhsa_kernel") kernel_ = {};
  if (name.starts_with(".amdhsa_") && !kernel_.empty() && name != ".amdhsa_kernel")
    return kernel_directive(name, value);
  return {};
}

// Keeps the asked directives that are plain numbers. Kernels that call functions have expressions, which stay out.
Status Reader::kernel_directive(std::string_view name, std::string_view value) {
  constexpr std::string_view kAsked[] = {".amdhsa_next_free_vgpr", ".amdhsa_next_free_sgpr",
                                         ".amdhsa_group_segment_fixed_size", ".amdhsa_private_segment_fixed_size"};
  if (std::find(std::begin(kAsked), std::end(kAsked), name) == std::end(kAsked)) return {};
  const auto number = parse_integer(value);
  if (number && (*number < 0 || *number > UINT32_MAX))
    return bad_file("'{}': got {}, wanted a number of 32 bits", name, *number);
  if (number) descriptions_[std::string(kernel_)].directives[name] = static_cast<uint32_t>(*number);
  return {};
}

// Reads YAML of one form: under "amdhsa.kernels:" an item for each kernel, "  - .key: value", whose keys stand in one
// column. Items of deeper lists are passed over.
void Reader::metadata(std::string_view text) {
  const size_t column = text.find_first_not_of(" -");
  const bool item = trimmed(text).starts_with("-") && column != text.npos;
  if (column == text.npos) return;
  if (!item && column == 0) in_kernels_ = text.starts_with("amdhsa.kernels:");
  if (!in_kernels_ || (item && item_column_ != 0 && column > item_column_)) return;
  if (item) item_column_ = column, item_.clear(), item_name_ = {};
  if (column != item_column_) return;
  const size_t colon = text.find(':', column);
  if (colon == text.npos) return;
  const std::string_view key = text.substr(column, colon - column), value = trimmed(text.substr(colon + 1));
  if (key == ".name")
    item_name_ = value.size() > 1 && value.front() == '\'' ? value.substr(1, value.size() - 2) : value;
  constexpr std::string_view kAsked[] = {".vgpr_count",
                                         ".agpr_count",
                                         ".sgpr_count",
                                         ".group_segment_fixed_size",
                                         ".private_segment_fixed_size",
                                         ".vgpr_spill_count",
                                         ".sgpr_spill_count",
                                         ".max_flat_workgroup_size"};
  const bool asked = std::find(std::begin(kAsked), std::end(kAsked), key) != std::end(kAsked);
  if (const auto number = parse_integer(value); asked && number && *number >= 0 && *number <= UINT32_MAX)
    item_[key] = static_cast<uint32_t>(*number);
  if (!item_name_.empty()) descriptions_[std::string(item_name_)].metadata = item_;
}

Status Reader::resolve(Function& function) const {
  std::vector<Placed>& all = function.made.listing.instructions;
  for (const auto& [index, goal] : function.branches) {
    const auto label = function.labels.find(goal);
    if (label == function.labels.end())
      return bad_file("'{}': no label '{}'", valid_utf8(function.made.info.name), valid_utf8(goal));
    const int64_t words = (static_cast<int64_t>(label->second) - static_cast<int64_t>(all[index].offset)) / 4 - 1;
    all[index].instruction.immediate = static_cast<int32_t>(words);
  }
  if (function.first_address) {
    // Padding up to the next function is not part of this one.
    while (!all.empty() && all.back().instruction.opcode == Opcode::s_nop) all.pop_back();
    function.made.listing.bytes = all.empty() ? 0 : all.back().offset + 4;
  }
  return {};
}

// The metadata, which count allocated registers, come first; the descriptor's directives stand in if they are missing.
Status Reader::describe(Function& function) const {
  KernelInfo& info = function.made.info;
  const auto found = descriptions_.find(info.name);
  if (found == descriptions_.end()) return bad_file("kernel '{}' has no description", valid_utf8(info.name));
  const Description& said = found->second;
  const auto word = [&](const char* key, const char* directive, uint32_t absent) {
    if (const auto it = said.metadata.find(key); it != said.metadata.end()) return it->second;
    const auto it = said.directives.find(directive);
    return it == said.directives.end() ? absent : it->second;
  };
  const uint32_t vgprs = function.registers[static_cast<size_t>(OperandKind::vgpr)],
                 agprs = function.registers[static_cast<size_t>(OperandKind::agpr)],
                 sgprs = function.registers[static_cast<size_t>(OperandKind::scalar)];
  info.vgprs = word(".vgpr_count", ".amdhsa_next_free_vgpr", unified_registers(vgprs, agprs));
  info.agprs = word(".agpr_count", "", agprs);
  info.sgprs = word(".sgpr_count", ".amdhsa_next_free_sgpr", sgprs);
  info.lds_bytes = word(".group_segment_fixed_size", ".amdhsa_group_segment_fixed_size", 0);
  info.scratch_bytes = word(".private_segment_fixed_size", ".amdhsa_private_segment_fixed_size", 0);
  info.vgpr_spills = word(".vgpr_spill_count", "", 0), info.sgpr_spills = word(".sgpr_spill_count", "", 0);
  info.most_threads = word(".max_flat_workgroup_size", "", kUnknownThreads);
  info.code_bytes = function.made.listing.bytes;
  function.made.described = !said.directives.empty() || !said.metadata.empty();
  return {};
}

Result<std::vector<AssemblyKernel>> Reader::finish() {
  // Every function may be a kernel if nothing is described; otherwise the described ones are, and they call the others.
  const bool none = descriptions_.empty();
  std::vector<AssemblyKernel> kernels;
  for (Function& function : functions_) {
    if (function.made.listing.instructions.empty()) continue;
    if (none) descriptions_[function.made.info.name];
    if (!descriptions_.contains(function.made.info.name)) continue;
    if (!isa_) return bad_file("the text names no architecture: name it with --target");
    RUNG_CHECK(resolve(function));
    RUNG_CHECK(describe(function));
    function.made.listing.isa = *isa_;
    kernels.push_back(std::move(function.made));
  }
  if (kernels.empty()) return bad_file("the text has no AMD kernel");
  return kernels;
}

}  // namespace

Result<std::vector<AssemblyKernel>> read_assembly(std::string_view text, std::optional<Isa> isa) {
  Reader reader(isa);
  RUNG_CHECK(reader.read(text));
  return reader.finish();
}

}  // namespace rung::amdgpu
