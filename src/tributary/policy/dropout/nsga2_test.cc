#include "tributary/policy/dropout/nsga2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "tributary/policy/dropout/pareto.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kVariables = 30;
constexpr double kReference = 1.1;

// Problems of Zitzler, Deb and Thiele (2000). The first objective is the first variable, the second is g·h, where g is
// least, 1, when all other variables are 0: the front is part of the curve h(f1, 1).
struct Problem {
  const char* name;
  std::function<double(double f1, double g)> h;
};

const std::vector<Problem>& Problems() {
  static const std::vector<Problem> problems = {
      {"ZDT1", [](double f1, double g) { return 1 - std::sqrt(f1 / g); }},
      {"ZDT2", [](double f1, double g) { return 1 - (f1 / g) * (f1 / g); }},
      {"ZDT3",
       [](double f1, double g) {
         return 1 - std::sqrt(f1 / g) - f1 / g * std::sin(10 * std::numbers::pi * f1);
       }},
  };
  return problems;
}

Objectives Evaluate(const Problem& problem, const Genome& x) {
  double sum = 0;
  for (std::size_t i = 1; i < x.size(); ++i) sum += x[i];
  const double g = 1 + 9 * sum / static_cast<double>(x.size() - 1);
  return {x[0], g * problem.h(x[0], g)};
}

std::vector<Objectives> EvaluateAll(const Problem& problem, std::span<const Genome> genomes) {
  std::vector<Objectives> all;
  for (const Genome& genome : genomes) all.push_back(Evaluate(problem, genome));
  return all;
}

// What the whole curve dominates, column by column: from the lowest value so far up to the reference.
double HypervolumeOfTheCurve(const Problem& problem) {
  constexpr int kColumns = 1'100'000;
  constexpr double kWidth = kReference / kColumns;
  double area = 0;
  double lowest = kReference;
  for (int i = 0; i < kColumns; ++i) {
    const double f1 = (i + 0.5) * kWidth;
    if (f1 <= 1) lowest = std::min(lowest, problem.h(f1, 1));
    area += (kReference - lowest) * kWidth;
  }
  return area;
}

Nsga2 Started(const Nsga2Options& options, std::size_t variables = kVariables,
              std::vector<Genome> given = {}) {
  auto search = Nsga2::Start(options, std::vector<VariableBounds>(variables), std::move(given));
  TRIBUTARY_CHECK(search.ok());
  return std::move(search).value();
}

void Advance(Nsga2& search, const Problem& problem, int generations) {
  for (int i = 0; i < generations; ++i) {
    const Status told = search.Tell(EvaluateAll(problem, search.asked()));
    ASSERT_TRUE(told.ok()) << told;
  }
}

TEST(Nsga2, FindsTheFrontsOfZdt1To3) {
  EXPECT_NEAR(HypervolumeOfTheCurve(Problems()[0]), 1.21 - 1.0 / 3, 1e-6);
  EXPECT_NEAR(HypervolumeOfTheCurve(Problems()[1]), 1.21 - 2.0 / 3, 1e-6);
  for (const Problem& problem : Problems()) {
    const double whole = HypervolumeOfTheCurve(problem);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      Nsga2 search = Started({.population = 200, .seed = seed});
      Advance(search, problem, 200);
      std::vector<Objectives> front;
      for (const Individual& individual : search.Front()) {
        EXPECT_EQ(individual.objectives, Evaluate(problem, individual.genome));
        front.push_back(individual.objectives);
      }
      const double found = Hypervolume2D(front, Objectives{kReference, kReference});
      EXPECT_GE(found, 0.99 * whole) << problem.name << " with seed " << seed;
      EXPECT_LE(found, whole) << problem.name << " with seed " << seed;
    }
  }
}

TEST(Nsga2, GoesOnFromASavedStateBitForBit) {
  const Nsga2Options options = {.population = 20, .offspring = 30, .seed = 7};
  for (const int saved_at : {1, 4, 13}) {
    Nsga2 whole = Started(options);
    Advance(whole, Problems()[2], saved_at);
    const Nsga2State saved = whole.state();
    auto resumed = Nsga2::Resume(options, std::vector<VariableBounds>(kVariables), saved);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_TRUE(std::ranges::equal(resumed->asked(), whole.asked()));
    Advance(whole, Problems()[2], 15);
    Advance(*resumed, Problems()[2], 15);
    EXPECT_EQ(resumed->state(), whole.state());
    EXPECT_NE(resumed->state(), saved);
  }
}

TEST(Nsga2, IsAFunctionOfItsSeed) {
  const auto run = [](std::uint64_t seed) {
    Nsga2 search = Started({.population = 10, .seed = seed});
    Advance(search, Problems()[0], 5);
    return search.state();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Nsga2, DrawsAnewInEveryGeneration) {
  const Nsga2State state = {1, {{{0.2, 0.9}, {1, 2}}, {{0.7, 0.4}, {2, 1}}}};
  std::vector<Genome> seen;
  for (std::uint64_t generation = 1; generation <= 50; ++generation) {
    const auto search =
        Nsga2::Resume({.population = 2}, std::vector<VariableBounds>(2), {generation, state.population});
    ASSERT_TRUE(search.ok()) << search.status();
    // A couple may be passed on as it is, once in a while; what is new is never new twice.
    for (const Genome& genome : search->asked()) {
      if (genome[0] == 0.2 || genome[0] == 0.7) continue;
      EXPECT_EQ(std::ranges::count(seen, genome), 0);
      seen.push_back(genome);
    }
  }
  EXPECT_GE(seen.size(), 30U);
}

TEST(Nsga2, AsksForTheGivenVectorsFirst) {
  const std::vector<Genome> given = {{0, 0}, {0.5, 1}};
  const Nsga2 search = Started({.population = 6}, 2, given);
  ASSERT_EQ(search.asked().size(), 6U);
  EXPECT_EQ(search.asked()[0], given[0]);
  EXPECT_EQ(search.asked()[1], given[1]);
  for (const Genome& genome : search.asked()) {
    for (const double value : genome) EXPECT_TRUE(value >= 0 && value <= 1);
  }
  EXPECT_NE(search.asked()[2], search.asked()[3]);
  // None of the given ones is lost while nothing dominates it.
  Nsga2 kept = Started({.population = 20}, kVariables, {Genome(kVariables, 0.0)});
  Advance(kept, Problems()[0], 30);
  const auto front = kept.Front();
  EXPECT_TRUE(std::any_of(front.begin(), front.end(),
                          [](const Individual& one) { return one.genome == Genome(kVariables, 0.0); }));
}

TEST(Nsga2, NothingThatIsDroppedDominatesWhatStays) {
  for (const std::size_t objectives : {2U, 3U, 4U}) {
    const auto evaluate = [&](const Genome& x) {
      Objectives values;  // Squared distances to the unit vectors, in steps: many are equal.
      for (std::size_t k = 0; k < objectives; ++k) {
        double distance = 0;
        for (std::size_t i = 0; i < x.size(); ++i) distance += std::pow(x[i] - (i == k ? 1.0 : 0.0), 2);
        values.push_back(std::floor(20 * distance));
      }
      return values;
    };
    Nsga2 search = Started({.population = 24, .offspring = 17, .seed = objectives}, 6);
    for (int generation = 0; generation < 40; ++generation) {
      std::vector<Individual> before = search.state().population;
      std::vector<Objectives> told;
      for (const Genome& genome : search.asked()) {
        told.push_back(evaluate(genome));
        before.push_back({genome, told.back()});
      }
      ASSERT_TRUE(search.Tell(told).ok());
      const std::vector<Individual>& after = search.state().population;
      ASSERT_EQ(after.size(), 24U);
      ASSERT_EQ(search.asked().size(), 17U);
      for (const Individual& stays : after)
        ASSERT_NE(std::find(before.begin(), before.end(), stays), before.end());
      for (const Individual& one : before) {
        if (std::find(after.begin(), after.end(), one) != after.end()) continue;
        for (const Individual& stays : after) ASSERT_FALSE(Dominates(one.objectives, stays.objectives));
      }
      for (std::size_t k = 0; k < objectives; ++k) {
        const auto less = [k](const Individual& a, const Individual& b) {
          return a.objectives[k] < b.objectives[k];
        };
        ASSERT_EQ(std::min_element(after.begin(), after.end(), less)->objectives[k],
                  std::min_element(before.begin(), before.end(), less)->objectives[k])
            << "an end of the front was lost";
      }
    }
  }
}

TEST(Nsga2, ForgetsWhatWasNotEvaluated) {
  Nsga2 search = Started({.population = 8, .offspring = 16});
  std::vector<Objectives> told(8);
  told[3] = {1, 2};
  told[5] = {2, 1};
  const Genome third = search.asked()[3];
  ASSERT_TRUE(search.Tell(told).ok());
  ASSERT_EQ(search.state().population.size(), 2U);
  EXPECT_EQ(search.state().population[0], (Individual{third, {1, 2}}));
  ASSERT_EQ(search.asked().size(), 16U);
  ASSERT_TRUE(search.Tell(std::vector<Objectives>(16, {3, 3})).ok());
  EXPECT_EQ(search.state().population.size(), 8U);
  EXPECT_EQ(search.state().generation, 2U);
}

TEST(Nsga2, RefusesInWords) {
  const std::vector<VariableBounds> unit(2);
  const auto start = [&](const Nsga2Options& options, const std::vector<Genome>& given = {}) {
    return Nsga2::Start(options, unit, given).status().message();
  };
  EXPECT_EQ(start({.population = 1}), "the population has from 2 to 100000 vectors, found 1");
  EXPECT_EQ(start({.offspring = 200'000}), "the offspring has from 0 to 100000 vectors, found 200000");
  EXPECT_EQ(start({.crossover = 1.5}),
            "the share of couples that are crossed lies between 0 and 1, found 1.5");
  EXPECT_EQ(start({.mutation_eta = std::nan("")}),
            "the eta of the mutation lies between 0 and 1000, found nan");
  EXPECT_EQ(start({.population = 2}, {{0, 0}, {0, 0}, {0, 0}}),
            "a population of 2 cannot start with 3 given vectors; give fewer, or choose a larger population");
  EXPECT_EQ(start({}, {{0, 0}, {0, 1.25}}), "given vector 1: variable 1 is 1.25, outside 0 to 1");
  EXPECT_EQ(start({}, {{0}}), "given vector 0: has 1 variables instead of 2");
  EXPECT_EQ(Nsga2::Start({}, {}).status().message(), "a vector has from 1 to 1000000 variables, found 0");
  EXPECT_EQ(Nsga2::Start({}, {{0, 1}, {1, 0}}).status().message(),
            "variable 1 is bounded by 1 and 0; bounds are finite, and the lower comes first");
  EXPECT_FALSE(Nsga2::Start({}, {{0, std::numeric_limits<double>::infinity()}}).ok());

  const auto resume = [&](Nsga2State state) {
    return Nsga2::Resume({.population = 2}, unit, std::move(state)).status().message();
  };
  EXPECT_EQ(
      resume({}),
      "a search with a population of 2 cannot resume from generation 0 with 0 vectors; start a new search");
  EXPECT_EQ(resume({1, {{{0, 0}, {1, 1}}, {{0, 0}, {1}}}}), "saved vector 1: has 1 objectives instead of 2");
  EXPECT_EQ(resume({1, {{{0, 0}, {1}}}}), "saved vector 0: has 1 objectives instead of two or more");
  EXPECT_EQ(resume({1, {{{0, 7}, {1, 1}}}}), "saved vector 0: variable 1 is 7, outside 0 to 1");
}

TEST(Nsga2, AfterARefusalAllIsAsBefore) {
  Nsga2 search = Started({.population = 3}, 2);
  const std::vector<Genome> asked(search.asked().begin(), search.asked().end());
  const auto tell = [&](const std::vector<Objectives>& told) { return search.Tell(told).message(); };
  EXPECT_EQ(tell({{1, 1}}), "objectives of 3 vectors were asked for, found 1");
  EXPECT_EQ(tell({{}, {}, {}}), "none of the vectors asked for was evaluated");
  EXPECT_EQ(tell({{1, 1}, {1, 1, 1}, {}}), "vector 1: has 3 objectives instead of 2");
  EXPECT_EQ(tell({{1, 1}, {}, {1, std::nan("")}}),
            "vector 2: has an objective of nan; a failed evaluation needs a finite value that is worse than "
            "any other");
  EXPECT_EQ(search.state(), Nsga2State{});
  EXPECT_TRUE(std::ranges::equal(asked, search.asked()));
  EXPECT_EQ(tell({{1, 1}, {1, 2}, {1, 3}}), "");
}

}  // namespace
}  // namespace tributary::inline policy
