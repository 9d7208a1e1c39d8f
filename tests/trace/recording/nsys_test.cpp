// Nsight Systems' databases: versions, graphs, processes, and databases that are not what they say.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/gzip.hpp"
#include "support/trace_formats.hpp"

namespace rung::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kStrings =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel_v7000');";
constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT,"
    " correlationId INT, globalPid INT, demangledName INT);";
constexpr const char* kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT,"
    " correlationId INT, nameId INT);";

Result<Recording> read_database(const std::string& statements) {
  const TemporaryDirectory folder;
  make_database(folder / "x.sqlite", statements);
  auto recording = read_recording(folder / "x.sqlite");
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  return recording;
}

std::string kernel_rows(const std::string& rows) {
  return std::string(kStrings) + kKernels + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " + rows + ";";
}

// What a program that is still writing keeps beside its database.
TEST(NsysDatabase, ALogOfChangesBesideItIsRefused) {
  const TemporaryDirectory folder;
  make_database(folder / "x.sqlite", kernel_rows("(5, 8, 0, 7, 12, 7 << 24, 1)"));
  EXPECT_TRUE(read_recording(folder / "x.sqlite"));
  const std::string log("\x37\x7f\x06\x82", 4);
  folder.write("x.sqlite-wal", log + std::string(28, '\0'));
  EXPECT_TRUE(read_recording(folder / "x.sqlite")) << "a header alone holds nothing";
  folder.write("x.sqlite-wal", log + std::string(5000, '\0'));
  const auto refused = read_recording(folder / "x.sqlite");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("x.sqlite-wal' beside it holds changes"), HasSubstr("checkpoint")));
  folder.write("x.sqlite-wal", std::string(5000, '\0'));
  EXPECT_TRUE(read_recording(folder / "x.sqlite")) << "a log that was taken in has no header";
}

TEST(NsysDatabase, IsReadWithoutColumnsThatItsVersionLacks) {
  const auto r = read_database(std::string(kStrings) +
                               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT);"
                               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 1);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 1u);
  EXPECT_EQ(r->name_of(r->events[0]), "k");
  EXPECT_EQ(r->events[0].start_ns, 5);
  EXPECT_EQ(r->events[0].duration_ns, 3);
  EXPECT_EQ(r->events[0].link, 0u);
}

// The version that says not of which process device work is.
TEST(NsysDatabase, LinksUnownedDeviceWorkToTheFirstProcess) {
  const auto r = read_database(std::string(kStrings) + kCalls +
                               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, correlationId INT);"
                               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, (7 << 24) | 9, 12, 2);"
                               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 12);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_NE(r->events[0].link, 0u);
  EXPECT_EQ(r->events[0].link, r->events[1].link);
  EXPECT_EQ(r->name_of(r->events[0]), "cudaLaunchKernel");
}

TEST(NsysDatabase, TellsProcessesWithTheSameNumbersApart) {
  const auto r = read_database(
      std::string(kStrings) + kCalls + kKernels +
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);"
      "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, cuDevice INT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 7), (1, 0, 8);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'first', 0), (1, 'second', 0);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 7 << 24, 12, 2), (1, 2, 8 << 24, 12, 2);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 0, 7, 12, 7 << 24, 1), (5, 9, 0, 7, 12, 8 << 24, 1);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 4u);
  for (const Event& kernel : r->events) {
    if (kernel.kind != EventKind::kernel) continue;
    const bool second = kernel.duration_ns == 4;
    EXPECT_EQ(r->lanes[kernel.lane].device, second);
    for (const Event& call : r->events) {
      if (call.kind != EventKind::runtime_call) continue;
      EXPECT_EQ(call.link == kernel.link, r->lanes[call.lane].process == (second ? 8 : 7));
    }
  }
  EXPECT_THAT(r->device_names, ElementsAre("first", "second"));
}

// Traced node by node, each kernel has its graph's launch; traced whole, the graph is one piece of work.
TEST(NsysDatabase, HasGraphsByNodeOrWhole) {
  const std::string calls = std::string(kStrings) + kCalls +
                            "INSERT INTO StringIds VALUES (3, 'cudaGraphLaunch_v10000');"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 7 << 24, 12, 3);";
  const auto nodes = read_database(calls + kKernels +
                                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 0, 7, 12, 7 << 24, 1),"
                                   " (8, 9, 0, 7, 12, 7 << 24, 1);");
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->events.size(), 3u);
  for (const Event& e : nodes->events) EXPECT_EQ(e.link, nodes->events[0].link);
  EXPECT_EQ(nodes->name_of(nodes->events[0]), "cudaGraphLaunch");

  const auto whole = read_database(calls +
                                   "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT,"
                                   " streamId INT, correlationId INT, globalPid INT, graphId INT);"
                                   "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5, 9, 0, 7, 12, 7 << 24, 3);");
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->events.size(), 2u);
  EXPECT_EQ(whole->name_of(whole->events[1]), "CUDA graph, traced as a whole");
  EXPECT_EQ(whole->events[1].link, whole->events[0].link);
}

TEST(NsysDatabase, NamesMemoryAsItsOwnTableDoes) {
  const std::string copies =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, bytes INT, copyKind INT,"
      " srcKind INT, dstKind INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 64, 1, 0, 2);";
  const auto documented = read_database(copies);
  ASSERT_TRUE(documented) << documented.error().message;
  EXPECT_EQ(documented->name_of(documented->events[0]), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(documented->copies[documented->events[0].detail],
            (CopyShape{64, MemoryKind::pageable, MemoryKind::device, true, false}));
  const auto other = read_database(copies +
                                   "CREATE TABLE ENUM_CUDA_MEM_KIND (id INT, name TEXT, label TEXT);"
                                   "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, '', 'Pinned'), (2, '', 'Device');");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->name_of(other->events[0]), "Memcpy HtoD (Pinned -> Device)");
}

TEST(NsysDatabase, HasRangesByTextOrNumberWithoutInstants) {
  const auto r = read_database(std::string(kStrings) +
                               "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT,"
                               " globalTid INT);"
                               "INSERT INTO NVTX_EVENTS VALUES (1, 9, 59, 'step', NULL, 0), (2, 3, 60, NULL, 1, 0),"
                               " (2, NULL, 34, 'mark', NULL, 0), (2, NULL, 59, 'open', NULL, 0),"
                               " (0, NULL, 75, 'domain', NULL, 0);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_EQ(r->name_of(r->events[0]), "step");
  EXPECT_EQ(r->name_of(r->events[1]), "k");
  EXPECT_THAT(r->skipped, UnorderedElementsAre(Pair("instants", 1), Pair("a begin without an end", 1),
                                               Pair("names of threads, domains and categories", 1)));
}

TEST(NsysDatabase, CountsWhatItDoesNotKeep) {
  const auto r =
      read_database(kernel_rows("(-5, 8, 0, 7, 1, 0, 1), ('soon', 8, 0, 7, 1, 0, 1), (5, NULL, 0, 7, 1, 0, 1),"
                                " (0, 0, 0, 7, 1, 0, 1), (8, 5, 0, 7, 1, 0, 1), (5.5, 8, 0, 7, 1, 0, 1),"
                                " (5, 8, 99999, 7, 1, 0, 1), (9223372036854775807, 5, 0, 7, 1, 0, 1),"
                                " (5, 8, 0, 7, 1, 0, 1)") +
                    "CREATE TABLE OSRT_API (start INT, end INT);"
                    "INSERT INTO OSRT_API VALUES (1, 2), (3, 4);");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
  EXPECT_THAT(r->skipped,
              UnorderedElementsAre(Pair("negative time", 1), Pair("a time that is missing or no number", 3),
                                   Pair("work whose times the profiler did not get", 1), Pair("negative duration", 2),
                                   Pair("streams and threads beyond what a recording holds", 1),
                                   Pair("calls of the operating system", 2)));
}

TEST(NsysDatabase, KeepsOneClock) {
  const auto r =
      read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 1), (9, 12, 0, 7, 1, 0, 1),"
                                " (7200000000000, 7200000000005, 0, 7, 1, 0, 1)"));
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 2u);
  EXPECT_THAT(r->skipped, ElementsAre(Pair("more than an hour apart from the rest: another clock", 1)));
}

TEST(NsysDatabase, TakesNamesThatAreMissingOrNoText) {
  const auto r = read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 99), (6, 9, 0, 7, 1, 0, NULL), (7, 9, 0, 7, 1, 0, 'k'),"
                                           " (8, 9, 0, 7, 1, 0, 4)") +
                               "INSERT INTO StringIds VALUES (4, x'ff00');");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 4u);
  for (const Event& e : r->events) EXPECT_EQ(r->name_of(e), "(no name)");
}

// ---- what is no export of Nsight Systems

TEST(NsysDatabase, IsRefusedWithoutTablesOfInterest) {
  const auto r = read_database("CREATE TABLE t (a); INSERT INTO t VALUES (1);");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message,
              HasSubstr("got a database without the tables of Nsight Systems or of rocprofv3, wanted "
                        "what `nsys export --type sqlite` or rocprofv3 writes"));
  EXPECT_EQ(r.error().kind, ErrorKind::file);
}

TEST(NsysDatabase, IsRefusedWithoutNames) {
  const auto r =
      read_database(std::string(kKernels) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 0, 7, 1, 0, 1);");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("got no table StringIds"));
}

TEST(NsysDatabase, IsRefusedWithOtherColumns) {
  const auto r = read_database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a INT, b INT);");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL has none of the columns that are read"));
}

// A view can stand in a table's place and compute for ever; so can a table that a module makes.
TEST(NsysDatabase, RunsNoCodeOfItsOwn) {
  const auto view = read_database(std::string(kStrings) +
                                  "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE t(start) AS (SELECT 1 "
                                  "UNION ALL SELECT start + 1 FROM t)"
                                  " SELECT start, start AS end FROM t;");
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().message, HasSubstr("got a database without the tables of Nsight Systems"));
  const auto made = read_database(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, other INT,"
      " end INT GENERATED ALWAYS AS (length(printf('%1000000000d', start))));"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start) VALUES (1);");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->skipped, ElementsAre(Pair("a time that is missing or no number", 1)));
  const auto module = read_database("CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, end);");
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().message, HasSubstr("got a database without the tables of Nsight Systems"));
}

// An index that does not hold what its table holds is not read in the table's place, narrower though it is.
TEST(NsysDatabase, IsReadByItsTablesNotTheirIndices) {
  const auto r = read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 1)") +
                               "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN unread TEXT;"
                               "CREATE INDEX all_of_it ON CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,"
                               " correlationId, globalPid, demangledName);"
                               "PRAGMA writable_schema=ON;"
                               "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'all_of_it';");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
}

TEST(NsysDatabase, IsRefusedWhereItsSchemaIsNoSql) {
  const auto r =
      read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 1)") +
                    "PRAGMA writable_schema=ON;"
                    "UPDATE sqlite_master SET sql = 'CREATE TABLE \x1b[31m nonsense' WHERE name LIKE 'CUPTI%';");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, AllOf(HasSubstr("cannot read the database: malformed database schema"),
                                       Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
}

// Memory that a schema takes is bounded, too.
TEST(NsysDatabase, IsRefusedWithTablesWithoutEnd) {
  const auto r = read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 1)") +
                               "PRAGMA writable_schema=ON;"
                               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
                               " INSERT INTO sqlite_master SELECT 'table', 't' || i, 't' || i, 2,"
                               " 'CREATE TABLE t' || i || '(a)' FROM n;");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("cannot read the database: interrupted"));
}

std::string made_bytes(const std::string& statements) {
  const TemporaryDirectory folder;
  make_database(folder / "x.sqlite", statements);
  return content_of(folder / "x.sqlite");
}

// Cut anywhere, the file is refused or gives some of its events.
TEST(NsysDatabase, MayBeCutShortAnywhere) {
  const std::string whole = made_bytes(content_of(told_program("nsys.sql")));
  const TemporaryDirectory folder;
  size_t refused = 0, cuts = 0;
  for (size_t bytes = 0; bytes < whole.size(); bytes += 509, ++cuts) {
    const auto r = read_recording(folder.write("x.sqlite", whole.substr(0, bytes)));
    refused += !r;
    if (!r) {
      EXPECT_THAT(r.error().message, Not(HasSubstr("\n")));
    }
  }
  EXPECT_GT(refused, cuts / 2);
}

TEST(NsysDatabase, MayHaveAnyByteWrong) {
  const std::string whole = made_bytes(kernel_rows("(5, 8, 0, 7, 1, 0, 1)"));
  const TemporaryDirectory folder;
  for (size_t at = 16; at < whole.size(); at += whole[at] == 0 ? 61 : 1) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    const auto r = read_recording(folder.write("x.sqlite", bytes));
    if (r) {
      EXPECT_LE(r->events.size(), 1u);
    }
  }
}

constexpr size_t kPageBytes = 512;
constexpr char kInnerPage = 5, kLeafPage = 13;  // what a page of a table begins with

// Where pages that begin with this byte do, but for the first page.
std::vector<size_t> pages_of(const std::string& bytes, char kind) {
  std::vector<size_t> pages;
  for (size_t page = kPageBytes; page < bytes.size(); page += kPageBytes)
    if (bytes[page] == kind) pages.push_back(page);
  return pages;
}
size_t two_bytes(const std::string& bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]) * 256u + static_cast<unsigned char>(bytes[at + 1]);
}

// A page of a tree that names one child again and again, and that another: rows without end.
TEST(NsysDatabase, GivesNoMoreRowsThanItHolds) {
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += fmt::format("{}({}, {}, 0, 7, 1, 0, 1)", i ? "," : "", 5 + i, 6 + i);
  std::string bytes = made_bytes("PRAGMA page_size=512;" + kernel_rows(rows));
  const auto inner = pages_of(bytes, kInnerPage);
  ASSERT_GE(inner.size(), 3u);
  const size_t page = inner[1], child = inner[2] / kPageBytes + 1;
  const std::string number{0, 0, static_cast<char>(child >> 8), static_cast<char>(child & 255)};
  bytes.replace(page + 8, 4, number);
  for (size_t i = 0; i < two_bytes(bytes, page + 3); ++i)
    bytes.replace(page + two_bytes(bytes, page + 12 + 2 * i), 4, number);
  const TemporaryDirectory folder;
  const auto r = read_recording(folder.write("x.sqlite", bytes));
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr(fmt::format("damaged: more than {} rows in", bytes.size() / 4)));
}

// A row that stands in its page eighty times, and fills two thousand pages before what is read of it.
TEST(NsysDatabase, ReadsNoMorePagesThanItHas) {
  std::string bytes = made_bytes(
      "PRAGMA page_size=512; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (pad TEXT, start INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (hex(zeroblob(500000)), 5);");
  const auto leaves = pages_of(bytes, kLeafPage);
  ASSERT_EQ(leaves.size(), 1u);
  constexpr size_t kRows = 80;
  for (size_t i = 1; i < kRows; ++i) bytes.replace(leaves[0] + 8 + 2 * i, 2, bytes, leaves[0] + 8, 2);
  bytes[leaves[0] + 4] = kRows;
  const TemporaryDirectory folder;
  const auto r = read_recording(folder.write("x.sqlite", bytes));
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("pages read in"));
}

TEST(NsysDatabase, IsRefusedWhereAValueIsHuge) {
  const auto r = read_database(kernel_rows("(5, 8, 0, 7, 1, 0, 1)") +
                               "INSERT INTO StringIds VALUES (3, CAST(zeroblob(5000000) AS TEXT));");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("table StringIds: row 3: string or blob too big"));
}

TEST(NsysDatabase, WantsItselfUnpackedAndReportsExported) {
  const TemporaryDirectory folder;
  const auto report = read_recording(folder.write("x.nsys-rep", "anything"));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("wanted its export: nsys export --type sqlite"));
  make_database(folder / "x.sqlite", kernel_rows("(5, 8, 0, 7, 1, 0, 1)"));
  const auto packed = read_recording(folder.write("x.sqlite.gz", gzip(content_of(folder / "x.sqlite"))));
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("got a packed database, wanted it unpacked: gunzip"));
}

// A journal beside it would be played back into the file by whoever opens it for writing.
TEST(NsysDatabase, IsNotChangedWhateverLiesBesideIt) {
  const TemporaryDirectory folder;
  make_database(folder / "a?b#c%20.sqlite", "PRAGMA journal_mode=WAL;" + kernel_rows("(5, 8, 0, 7, 1, 0, 1)"));
  folder.write("a?b#c%20.sqlite-journal", std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7") + std::string(600, '\1'));
  const std::string path = folder / "a?b#c%20.sqlite", before = content_of(path);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto r = read_recording(path);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
  EXPECT_EQ(content_of(path), before);
  EXPECT_TRUE(std::filesystem::exists(path + "-journal"));
  EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
}

}  // namespace
}  // namespace rung::trace
