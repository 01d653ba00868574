#include "tributary/experiment/explain.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

namespace tributary::inline experiment {
namespace {

const std::filesystem::path kSource = TRIBUTARY_SOURCE_DIR;

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Compares a file with what it should be, and writes it anew if asked to.
void ExpectText(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("TRIBUTARY_WRITE_KEYS") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(TextOf(path), text) << "TRIBUTARY_WRITE_KEYS=1 writes it anew";
}

TEST(Explain, SaysWhatAKeyTakes) {
  const auto found = ExplainKey("train.batch");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().allowed, "a whole number from 1 to 1000000");
  EXPECT_EQ(found->front().usual, "32");
  EXPECT_EQ(found->front().valid, "");
  EXPECT_EQ(ExplainKey("train.prox")->front().valid, "method = \"federated\"");
  EXPECT_EQ(ExplainKey("train.method")->front().usual, "none; it must be given");
  EXPECT_EQ(ExplainKey("train.learning-rate")->front().usual, "0.05 with sgd, 0.001 with adam");
  EXPECT_EQ(ExplainKey("stream.base-batch")->front().usual, "train.batch");
}

TEST(Explain, FindsKeysByPartsAndThroughLists) {
  EXPECT_EQ(ExplainKey("fleet.group.phones.count")->front().path, "fleet.group.count");
  EXPECT_EQ(ExplainKey("fleet.group.0.availability.period")->front().path, "fleet.group.availability.period");
  EXPECT_EQ(ExplainKey("local-steps")->front().path, "train.local-steps");
  EXPECT_EQ(ExplainKey("kind")->size(), 7u);
  EXPECT_GT(ExplainKey("train")->size(), 20u);
}

TEST(Explain, AnswersUnknownKeysWithTheNearest) {
  EXPECT_EQ(ExplainKey("train.bach").status().message(),
            "unknown key 'train.bach'; did you mean 'train.batch'? `tributary explain` lists all keys");
  EXPECT_EQ(ExplainKey("zzz").status().message(), "unknown key 'zzz'; `tributary explain` lists all keys");
}

TEST(Explain, EveryKeyHasADocALineAndAnExample) {
  for (const KeyInfo& key : ExplainKeys()) {
    SCOPED_TRACE(key.path);
    EXPECT_TRUE(key.doc.ends_with(".")) << key.doc;
    EXPECT_EQ(key.doc.find_first_of("\n|"), std::string::npos);
    EXPECT_FALSE(key.allowed.empty());
    EXPECT_EQ(key.usual.empty(), key.example.empty());
  }
}

TEST(Explain, TheDocumentationHasTheKeys) {
  const std::filesystem::path path = kSource / "docs/simulator.md";
  const std::string text = TextOf(path), begin = "<!-- keys -->\n", end = "<!-- end of keys -->";
  const std::size_t from = text.find(begin) + begin.size(), to = text.find(end);
  ASSERT_NE(to, std::string::npos);
  ExpectText(path, text.substr(0, from) + FormatKeyTables() + text.substr(to));
}

TEST(Explain, TheSchemaIsShipped) { ExpectText(kSource / "presets/experiment.schema.json", FormatSchema()); }

TEST(Explain, EveryPresetNamesTheSchema) {
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "presets")) {
    if (entry.path().extension() == ".toml") {
      EXPECT_TRUE(TextOf(entry.path()).starts_with("#:schema ./experiment.schema.json\n")) << entry.path();
    }
  }
}

// A key is written as a string once for each section that has it, and nowhere else in this folder.
TEST(Explain, NoKeyIsNamedInTwoPlaces) {
  std::map<std::string, std::size_t> sections, places;
  for (const KeyInfo& key : ExplainKeys()) ++sections[key.path.substr(key.path.rfind('.') + 1)];
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "src/tributary/experiment")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.find("_test") != std::string::npos ||
        name.find("testing") != std::string::npos || name == "compatibility.cc") {
      continue;
    }
    std::string text = TextOf(entry.path());
    text = std::regex_replace(text, std::regex("//[^\n]*"), "");
    // Keys are what is added to a list, or compared with what a table has.
    const std::regex key(
        "(Add|add|FindMember)\\(([^\"\\n;]*, )?\"([a-z0-9-]+)\"|Key = \"([a-z]+)\"|\\{\"([a-z-]+)\", Unit");
    for (std::sregex_iterator match(text.begin(), text.end(), key), end; match != end; ++match)
      ++places[(*match)[3].str() + (*match)[4].str() + (*match)[5].str()];
  }
  for (const auto& [key, count] : places) {
    EXPECT_LE(count, sections[key]) << key;
    EXPECT_GE(count, 1u);
  }
  EXPECT_GT(places.size(), 100u);
}

}  // namespace
}  // namespace tributary::inline experiment
