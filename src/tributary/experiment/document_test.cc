#include "tributary/experiment/document.h"

#include <gtest/gtest.h>

namespace tributary::inline experiment {
namespace {

std::string Refusal(std::string_view text) { return CheckLexically(text, "e.toml").message(); }

TEST(LexicalCheck, AllowsAnyCharacterInTextsAndComments) {
  EXPECT_EQ(Refusal("a = \"α \\\" β\" # γ\n'δ' = 'ε\\' # ζ"), "");
}

// Each of these ran into undefined behaviour in the library: found by fuzzing.
TEST(LexicalCheck, RefusesOtherCharactersElsewhere) {
  const std::string_view refusal = "e.toml:2: a character that is not ASCII outside of a text in quotes";
  EXPECT_EQ(Refusal("a = \"x\"\nb = 1 é\n"), refusal);
  EXPECT_EQ(Refusal("a = 'x\\'\né = 1\n"), refusal);
  EXPECT_EQ(Refusal("a = 1 # '\n\xc2\xa1"), refusal);
}

TEST(LexicalCheck, RefusesTextsOverSeveralLines) {
  EXPECT_EQ(Refusal("a = \"\"\"x\"\"\""),
            "e.toml:1: a text over several lines; texts stand on one line, in single quotes");
  EXPECT_EQ(Refusal("a = '''x"),
            "e.toml:1: a text over several lines; texts stand on one line, in single quotes");
  EXPECT_EQ(Refusal("a = \"\"\nb = ''\n"), "");
}

TEST(LexicalCheck, CountsThePartsOfAKeyAndNotDecimals) {
  EXPECT_EQ(Refusal("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = [1.5, 2.5, 3.5]"), "");
  EXPECT_EQ(Refusal("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q = 1"), "e.toml:1: a key of more than 16 parts");
  EXPECT_EQ(Refusal("\na.','.1.','.1.','.1.','.1.','.1.','.1.','.1.','.1 = 1"),
            "e.toml:2: a key of more than 16 parts");
}

TEST(LexicalCheck, LetsNothingBeginDirectlyBehindAValue) {
  // The library would read the letter in quotes as part of the number, and runs into undefined behaviour.
  EXPECT_EQ(Refusal("a = 1[\"\u01bb\"]\n"), "e.toml:1: a [ directly behind a value or a key");
  EXPECT_EQ(Refusal("a = 1\"\u01bb\"\n"), "e.toml:1: a \" directly behind a value or a key");
  EXPECT_EQ(Refusal("a = 1\x1a[\"\u01bb\n"), "e.toml:1: a control character outside of a text in quotes");
  EXPECT_EQ(Refusal("a = \"\u01bb\n"), "e.toml:1: a text in quotes that does not end on its line");
  EXPECT_EQ(Refusal("[[a.\"\u01bb\"]]\nb = [[1, 2], ['x']]\nc = { d = [\"\u01bb\"] }\t# \u01bb\r\n"), "");
}

}  // namespace

}  // namespace tributary::inline experiment
