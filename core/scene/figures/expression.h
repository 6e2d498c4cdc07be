// The little language of `of=`, `check=` and `$(...)`: numbers, names, arithmetic, comparisons, && and ||.
//
//   or         = and { "||" and }
//   and        = comparison { "&&" comparison }
//   comparison = sum [ ("==" | "!=" | "<=" | ">=" | "<" | ">") sum ]
//   sum        = product { ("+" | "-") product }
//   product    = unary { ("*" | "/") unary }
//   unary      = ("-" | "!") unary | number | name | ("ceil" | "floor" | "abs") "(" or ")" | "(" or ")"
//   name       = word { "[" digits "]" [ "." word ] } { "@" word ":" word }      sectors_per_request@line:7, output[3],
//                cycles@scene:four, hessian.w[0].w[1], gpu.sms@gpu:jetson-nano (names of GPUs may hold '-' and ':')
//
// A comparison gives 1 or 0. == allows a relative difference of 1e-9; an infinity equals itself alone. A comparison with NaN
// is neither true nor false, and so are ! and what else of && and || hangs on it: as the whole expression it gives 0.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/scene/figures/figure_name.h"

namespace lockstep::scene {

class Expression {
  public:
    using Lookup = std::function<Result<double>(const FigureName& name)>;

    // A Diagnostic's column counts from 1 within `text`; its source_line is `text`.
    static Result<Expression> parse(std::string_view text);

    Result<double> evaluate(const Lookup& lookup) const;
    std::vector<FigureName> names() const;    // each once, in order
    bool names(std::string_view name) const;  // whether this is one of them
    std::vector<Expression> clauses() const;  // the terms of the outermost &&: what a report lists one by one
    const std::string& text() const { return text_; }
    // A comparison's two sides; null for anything else.
    bool is_comparison() const;
    bool is_truth() const;  // comparisons, not, && and ||: it holds or it does not
    std::pair<Expression, Expression> sides() const;

    struct Node;

  private:
    std::shared_ptr<const Node> root_;
    std::string text_;
    static Expression from(std::shared_ptr<const Node> node, std::string_view whole);
};

// "$n" and "$(ceil(n / block))" replaced by their values: "f32[$n]" with n = 24 is "f32[24]".
Result<std::string> fill_in(std::string_view text, const std::map<std::string, double>& variables);

}  // namespace lockstep::scene
