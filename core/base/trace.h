// Derivations: each number's formula, its terms, and the figures and inputs that they come from.
//
// A formula is stated once, for its value and its explanation. FIGURE declares a local variable with the value of an
// expression and, when the trace is on, records the text of that very expression with the value of each symbol in it:
//
//   FIGURE(trace, memory_time, bytes / (bandwidth * fraction), (Note{"Time to move the data", "bandwidth bound"}),
//          bytes, bandwidth, fraction);
//
// The formula language is thus the C++ expression: + - * / ( ), numbers, symbols, and the functions max min sqrt pow
// log2 log exp ceil floor norm of quantity.h. No member access and no casts: name the terms first. All texts of a
// figure are static. Tests evaluate every formula text against its value.
//
// A term comes from the figure, input or constant that its name stands for, as a name in a program does: the nearest
// scope that has it, its latest there. Figures name themselves; Input, Constants and Alias name what comes from
// elsewhere. A copy under another name has no origin, however equal; nor does a name reach into another question
// (outermost scope): a step time never rests on a packaging step.
//
// An off trace costs one branch per figure.
//
// Where a folder's numbers carry nodes (tape.h), it needs no trace: a term or alias that no name explains takes its
// explanation from the node of its value, and Report shows what a node stands for at the path of a report. The other
// way, Carry gives a value the node of what a name stands for. All go when no folder names its terms any more.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

struct Term {
  std::string symbol;
  double value = 0;  // in base units
  Dimension dimension{};
  std::string origin;  // path of the figure, input or constant; "": a number of the formula itself
  std::size_t figure;  // place of that figure among the trace's, kNoFigure of an input
};
inline constexpr std::size_t kNoFigure = static_cast<std::size_t>(-1);

// What a choice chose among, by what it compared.
struct Option {
  std::string name;  // "tile 128 × 256"
  double value = 0;  // in base units
  bool is_chosen = false;
};

// kProcedure: found step by step, by a simulation or a search that no formula stands for; the note says which.
enum class FigureKind { kFormula, kChoice, kConstant, kProcedure };

struct FigureRecord {
  std::string path;     // scopes and name joined by dots: "training.step_time"
  std::string symbol;   // name in formulas
  std::string title;    // short
  std::string note;     // meaning and validity
  std::string source;   // source of the formula
  std::string formula;  // in the language above; "" of other kinds
  double value = 0;
  Dimension dimension{};
  std::vector<Term> terms;
  FigureKind kind = FigureKind::kFormula;
  std::vector<Option> among{};   // of a choice
  Dimension compared{};          // of their values
  std::vector<double> shares{};  // of a choice or a procedure: by how many per cent it moves when a term moves by one,
                                 // where that is known
};

struct Note {
  std::string_view title;
  std::string_view note = "";
  std::string_view source = "";
  std::string_view report = "";  // path of the report that shows this figure, if any
};

namespace internal {
struct Value {
  double base;
  const Dimension* dimension;
  const Node* node = nullptr;
};
inline constexpr Dimension kNoDimension{};
template <class T>
constexpr Value ValueOf(T v) {
  if constexpr (std::is_arithmetic_v<T>) {
    return {static_cast<double>(v), &kNoDimension};
  } else {
    return {v.base(), &T::kDimension, v.node()};
  }
}
// The constant parts of a FIGURE.
struct FigureText {
  std::string_view symbol, formula, terms;
  Note note;
};
}  // namespace internal

class Trace {
 public:
  static Trace Off() { return Trace(false); }
  static Trace On() { return Trace(true); }
  [[nodiscard]] bool on() const { return book_ != nullptr; }

  // Declares that a symbol of the current scope is the input at a path of the scenario
  // ("cluster.device.memory.bandwidth"), or a figure that another question reports there.
  template <class T>
  void Input(std::string_view symbol, T value, std::string_view path) {
    if (on()) BindInput(symbol, internal::ValueOf(value), path);
  }

  // Declares that a symbol of the current scope is the latest figure, input or constant of another name, which has its
  // value. The nearest scope's, as for a term.
  template <class T>
  void Alias(std::string_view symbol, T value, std::string_view of) {
    if (on()) BindAlias(symbol, internal::ValueOf(value), of);
  }

  // The value with the node of the figure, input or constant that a name stands for here; without one, as it is.
  template <int... E>
  Quantity<E...> Carry(std::string_view symbol, Quantity<E...> value) {
    return on() ? Quantity<E...>::FromBase(value.base(), NodeOf(symbol, internal::ValueOf(value))) : value;
  }
  // Records what a value's node stands for at the path of the report that shows it.
  template <int... E>
  void Report(std::string_view path, Quantity<E...> value) {
    if (on()) RecordReported(path, internal::ValueOf(value));
  }
  // The node of the input at a path, or of what replaces it; the trace must be on. For BindInputs. Members of
  // "cluster.device" are those of the device that the scope names (BindInput).
  const Node* InputNode(const std::string& path, double value, const Dimension& dimension);
  // Of the numbers that this trace explains; it must be on.
  Tape& tape() { return book_->tape; }
  // Path of the device that the scope names, behind the question that asks: inputs below it keep their nodes as long as
  // this stays the same. The trace must be on.
  [[nodiscard]] std::string DeviceHere() const;
  // What a folder has bound to the tape under a key, made once and kept as long as it. The trace must be on.
  template <class T, class Make>
  T& Kept(const std::string& key, const Make& make) {
    std::shared_ptr<void>& kept = book_->kept[key];
    if (kept == nullptr) kept = std::shared_ptr<T>(make());
    return *static_cast<T*>(kept.get());
  }

  // Declares that where an input of this path is said to have this value, it is the latest figure or input of another
  // name: something replaces the input by a value of its own.
  template <class T>
  void Replace(std::string_view path, T value, std::string_view by) {
    if (!on()) return;
    book_->replaces = true;
    BindAlias(ReplacedName(path), internal::ValueOf(value), by);
  }

  // Declares that symbols of the current scope, "a, b", are fitted constants of a table ("kernels.hopper.gemm").
  template <class... Values>
  void Constants(std::string_view table, std::string_view source, std::string_view names, Values... values_of_names) {
    if (!on()) return;
    const internal::Value values[]{internal::ValueOf(values_of_names)...};
    BindConstants(table, source, names, values);
  }

  // Declares a constant that needs no variable of its own, and returns its value.
  template <class T>
  T Constant(std::string_view symbol, T value, std::string_view table, std::string_view source) {
    Constants(table, source, symbol, value);
    return value;
  }

  // Records what was chosen in the current scope, among what, and what the choice rests on: `names` "m, n" of the
  // terms.
  template <class T, class Q, class... Terms>
  void Choice(std::string_view symbol, T chosen, const Note& note, const std::vector<std::pair<std::string, Q>>& among,
              std::size_t place, std::string_view names, Terms... terms) {
    if (!on()) return;
    std::vector<Option> options;
    for (const auto& [name, compared] : among)
      options.push_back({name, internal::ValueOf(compared).base, options.size() == place});
    const internal::Value values[]{internal::ValueOf(chosen), internal::ValueOf(terms)...};
    RecordChoice({symbol, "", names, note}, values, sizeof...(Terms), std::move(options),
                 *internal::ValueOf(Q{}).dimension);
  }

  // Records what a procedure found in the current scope, and what it rests on: `names` "m, n" of the terms.
  template <class T, class... Terms>
  void Procedure(std::string_view symbol, T found, const Note& note, std::string_view names, Terms... terms) {
    if (on()) Procedure(symbol, note, names, {internal::ValueOf(found), internal::ValueOf(terms)...});
  }

  // The same with any number of terms; the first value is what was found.
  void Procedure(std::string_view symbol, const Note& note, std::string_view names,
                 const std::vector<internal::Value>& found_and_terms) {
    if (!on()) return;
    Record(internal::FigureText{symbol, "", names, note}, found_and_terms);
    book_->figures.back().kind = FigureKind::kProcedure;
  }

  // Declares by how many per cent the choice or procedure just recorded moves when the term in a place moves by one.
  void MovesBy(std::size_t term, double share) {
    if (!on()) return;
    FigureRecord& figure = book_->figures.back();
    figure.shares.resize(figure.terms.size());
    figure.shares[term] = share;
  }

  // Declares that a rule, not a measurement, set the input at a path: figures that use it cite the rule. Both texts
  // outlive the trace.
  void Assume(std::string_view path, std::string_view rule) {
    if (on()) book_->assumed[path] = rule;
  }

  // Records a figure in the current scope; called by FIGURE.
  template <class... Values>
  void Record(const internal::FigureText& text, Values... value_and_terms) {
    const internal::Value values[]{internal::ValueOf(value_and_terms)...};
    RecordValues(text, values, sizeof...(Values) - 1);
  }

  // The same with any number of terms; the first value is the figure's.
  void Record(const internal::FigureText& text, const std::vector<internal::Value>& value_and_terms) {
    RecordValues(text, value_and_terms.data(), value_and_terms.size() - 1);
  }

  [[nodiscard]] const std::vector<FigureRecord>& figures() const;

  // Figures recorded during its lifetime get paths below it.
  class Scope {
   public:
    Scope(Trace& trace, std::string_view name) : trace_(trace) {
      if (trace_.on()) outer_ = trace_.Enter(name);
    }
    ~Scope() {
      if (trace_.on()) trace_.book_->scope = outer_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Trace& trace_;
    std::size_t outer_ = 0;
  };

 private:
  struct ScopeNode {
    std::string path;
    std::size_t parent = 0, depth = 0;
  };
  struct Origin {
    std::string path;
    std::size_t figure = kNoFigure;
  };
  struct Binding {
    std::size_t scope;  // it was bound in
    std::string symbol;
    double value;
    Origin origin;
    std::size_t before;  // 1 + index of the latest earlier binding with the same hash; 0: none
  };
  // What a trace that is on has written down.
  struct Book {
    std::vector<FigureRecord> figures;
    std::vector<ScopeNode> scopes = std::vector<ScopeNode>(1);  // the first holds all others
    std::size_t scope = 0;                                      // the current one
    std::unordered_map<std::string, std::size_t> scope_of_path;
    std::vector<Binding> bindings;                                    // latest last
    std::unordered_map<std::size_t, std::size_t> latest;              // 1 + index of the latest binding, by hash
    std::unordered_map<std::string, std::vector<double>> values;      // values of the figures of a path
    std::unordered_map<std::string, std::vector<std::size_t>> found;  // places of the nodes' figures of a path
    std::unordered_map<std::string, std::size_t> constants,
        reported;  // places of the constants and of the reports' figures, by path
    std::unordered_map<std::string_view, std::string_view> assumed;  // rules by the path of the input that they set
    bool replaces = false;                                           // some input is replaced
    Tape tape;
    std::unordered_map<std::string, std::shared_ptr<void>> kept;  // by its key
    std::unordered_map<const Node*, Origin> of_nodes;             // of those that figures have met
  };
  explicit Trace(bool on) : book_(on ? std::make_unique<Book>() : nullptr) {}
  std::size_t Enter(std::string_view scope);  // returns the outer one
  void Bind(std::string symbol, Origin origin, internal::Value value);
  [[nodiscard]] std::string PathHere(std::string_view path) const;
  static std::string ReplacedName(std::string_view path) { return "instead of " + std::string(path); }
  void BindInput(std::string_view symbol, internal::Value value, std::string_view path);
  void BindAlias(std::string_view symbol, internal::Value value, std::string_view of);
  void BindConstants(std::string_view table, std::string_view source, std::string_view names,
                     std::span<const internal::Value> values);
  void RecordChoice(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms,
                    std::vector<Option> among, const Dimension& compared);
  void RecordValues(const internal::FigureText& text, const internal::Value* value_and_terms, std::size_t terms);
  [[nodiscard]] std::size_t SharedScope(std::size_t a, std::size_t b) const;
  [[nodiscard]] const Origin* OriginOf(std::string_view symbol, internal::Value value) const;  // null: none
  [[nodiscard]] std::optional<Origin> OriginOfTerm(std::string_view symbol, internal::Value value);
  Origin OriginOfNode(const Node& node, std::string_view symbol, const Dimension& dimension);
  Origin RecordFound(FigureRecord figure);
  FigureRecord FigureOf(const Node& node, std::string_view symbol, const Dimension& dimension);
  void RecordReported(std::string_view path, internal::Value value);
  Origin RecordConstant(const Node& node);
  const Node* NodeOf(std::string_view symbol, internal::Value value);
  const Node* NodeOf(const Origin& origin, internal::Value value);
  [[nodiscard]] std::string BelowScope(std::string_view symbol) const;
  [[nodiscard]] std::string PathInScope(std::string_view symbol, double value);
  [[nodiscard]] std::string OwnPath(std::string path, double value);
  [[nodiscard]] std::string SourceOf(const FigureRecord& figure, std::string_view stated) const;

  std::unique_ptr<Book> book_;  // null: off
};

#define FIGURE(trace, name, expression, description, ...)                                                          \
  const auto name = (expression);                                                                                  \
  if ((trace).on()) {                                                                                              \
    static constexpr ::slipstick::internal::FigureText figure_text{#name, #expression, #__VA_ARGS__, description}; \
    (trace).Record(figure_text, name, __VA_ARGS__);                                                                \
  }                                                                                                                \
  static_assert(true)

}  // namespace slipstick
