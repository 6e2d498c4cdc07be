#include "app/gui/views/cluster/owners_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/units.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {
namespace {

using scene::MeshProduct;

bool has_summands(const parallel::LaidOut& matrix) {
    const auto& along = matrix.layout.along;
    return std::find(along.begin(), along.end(), parallel::partial()) != along.end();
}

// Ranks hold the same summand where they stand at the same place of every axis along which summands are added.
bool same_summand(const parallel::Mesh& mesh, const parallel::Layout& layout, size_t one, size_t other) {
    for (size_t axis = 0; axis < layout.along.size(); ++axis)
        if (layout.along[axis] == parallel::partial() && mesh.coordinate(static_cast<int>(one), mesh.axes[axis].name) !=
                                                             mesh.coordinate(static_cast<int>(other), mesh.axes[axis].name))
            return false;
    return true;
}

OwnedMatrix owned(const MeshProduct& product, const parallel::LaidOut& matrix, std::string name) {
    OwnedMatrix it{.name = std::move(name), .rows = matrix.shape[0], .columns = matrix.shape[1]};
    it.summands = has_summands(matrix);
    for (int rank = 0; rank < product.mesh.ranks(); ++rank) {
        const parallel::TensorRegion region = parallel::region_of(product.mesh, matrix.shape, matrix.layout, rank);
        it.parts.push_back({region[0], region[1]});
    }
    for (size_t rank = 0; rank < it.parts.size(); ++rank) {
        size_t first = rank;
        for (size_t other = 0; other < rank && first == rank; ++other)
            if (it.parts[other] == it.parts[rank] && same_summand(product.mesh, matrix.layout, other, rank)) first = other;
        it.owner.push_back(static_cast<int>(first));
    }
    const bool rows = std::any_of(it.parts.begin(), it.parts.end(), [&](const auto&p) { return p.rows.count < it.rows; }),
               columns =
                   std::any_of(it.parts.begin(), it.parts.end(), [&](const auto&p) { return p.columns.count < it.columns; });
    it.words = it.summands       ? (rows || columns ? "summands of its parts" : "summands of all of it")
               : rows && columns ? "cut both ways"
               : rows            ? "cut by rows"
               : columns         ? "cut by columns"
                                 : "all have it";
    return it;
}

OwnedMove move_of(const MeshProduct& product) {
    OwnedMove move;
    if (!product.moves || product.made.layout == product.to.layout) return move;
    for (const parallel::RedistributionStep& step : product.plan.steps)
        move.collective += (move.collective.empty() ? "" : ", ") + (step.collective == "local" ? "slice" : step.collective);
    if (!product.sent.empty()) move.bytes = *std::max_element(product.sent.begin(), product.sent.end());
    move.total = std::accumulate(product.sent.begin(), product.sent.end(), int64_t{0});
    return move;
}

bool follows(const MeshProduct& first, const MeshProduct& second) {
    return first.mesh == second.mesh && first.to == second.a;
}

void add_product(OwnedChain& chain, const MeshProduct& product, const std::string& a, const std::string& b,
                 const std::string& made) {
    if (chain.columns.empty()) chain.columns.push_back({"", owned(product, product.a, a), false, {}});
    chain.columns.push_back({"×", owned(product, product.b, b), false, {}});
    const OwnedMove move = move_of(product);
    const bool moved = !move.collective.empty();
    OwnedMatrix out = owned(product, product.made, made);
    if (out.summands) out.name = "parts of " + made;
    chain.columns.push_back({"=", std::move(out), false, {}});
    if (moved) chain.columns.push_back({"", owned(product, product.to, made), true, move});
    chain.bytes += move.bytes;
    chain.ranks = product.mesh.ranks();
    chain.wrong += static_cast<int64_t>(product.wrong);
}

std::string words_of_row(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string what(int64_t bytes) {
    return counted(bytes, "byte");
}

}  // namespace

bool OwnedMatrix::everywhere() const {
    return !summands && owners() == 1 && !parts.empty() && parts.front().rows.count == rows &&
           parts.front().columns.count == columns;
}
int OwnedMatrix::owners() const {
    return static_cast<int>(first_holders().size());
}
std::vector<int> OwnedMatrix::first_holders() const {
    std::vector<int> first;
    for (size_t rank = 0; rank < owner.size(); ++rank)
        if (owner[rank] == static_cast<int>(rank)) first.push_back(owner[rank]);
    const auto place = [&](int rank) {
        const Part& part = parts[static_cast<size_t>(rank)];
        return std::pair(part.rows.begin, part.columns.begin);
    };
    std::stable_sort(first.begin(), first.end(), [&](int a, int b) { return place(a) < place(b); });
    return first;
}
int OwnedMatrix::places() const {
    int count = 0;
    for (size_t rank = 0; rank < parts.size(); ++rank)
        count += std::find(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(rank), parts[rank]) ==
                 parts.begin() + static_cast<std::ptrdiff_t>(rank);
    return count;
}
std::string OwnedMatrix::holders(int owner_rank) const {
    std::string text;
    int listed = 0;
    for (size_t rank = 0; rank < owner.size(); ++rank)
        if (owner[rank] == owner_rank && ++listed <= 3) text += fmt::format("{}{}", text.empty() ? "" : " ", rank);
    return listed > 3 ? text + " ..." : text;
}

std::vector<OwnedRow> owned_rows(const scene::ClusterScene* scene) {
    std::vector<OwnedRow> rows;
    if (scene == nullptr || !scene->ran) return rows;
    for (const scene::ParallelRow& row : scene->ran->rows)
        if (row.product) rows.push_back({words_of_row(row.name), move_of(*row.product)});
    return rows;
}

std::vector<OwnedChain> owned_chains(const scene::ClusterScene& scene) {
    std::vector<const MeshProduct*> products;
    for (const scene::ParallelRow& row : scene.ran->rows)
        if (row.product) products.push_back(row.product.get());
    std::vector<OwnedChain> chains;
    for (size_t i = 0; i < products.size(); ++i) {
        OwnedChain chain;
        chain.rows = {i};
        if (i + 1 < products.size() && follows(*products[i], *products[i + 1])) {
            add_product(chain, *products[i], "X", "A", "H");
            add_product(chain, *products[i + 1], "H", "B", "Y");
            chain.rows.push_back(++i);
        } else {
            add_product(chain, *products[i], "A", "B", "Y");
        }
        chains.push_back(std::move(chain));
    }
    return chains;
}

std::string owned_headline(const OwnedChain& chain) {
    std::string moves;
    int count = 0;
    for (const OwnedColumn& column : chain.columns)
        if (column.moved && column.move.bytes > 0)
            ++count, moves += (moves.empty() ? "" : ", then ") + column.move.collective;
    const bool two = chain.rows.size() > 1;
    if (count == 0)
        return two ? "Two products, and not one byte is sent" : "Every rank has all that its block needs: nothing is sent";
    if (two && count == 1) return fmt::format("Two products, one message: the {} at the end", moves);
    const OwnedMatrix& made = chain.columns[chain.columns.size() - 2].matrix;
    if (two) return fmt::format("Two products, {} messages: {}", count, moves);
    return made.summands ? fmt::format("Every rank has a summand of all of Y: {}, {} a rank", moves, what(chain.bytes))
                         : fmt::format("Y is not yet where it shall be: {}, {} a rank", moves, what(chain.bytes));
}

std::string owned_caption(const OwnedChain& chain) {
    std::string text;
    for (const OwnedColumn& column : chain.columns) {
        if (!column.moved) continue;
        if (!text.empty()) text += " ";
        text += fmt::format("{} of {}: the rank that sends most sends {}, all together {}.", column.move.collective,
                            column.matrix.name, what(column.move.bytes), what(column.move.total));
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    }
    if (text.empty()) text = "The layouts meet: products need no message.";
    return chain.wrong > 0 ? text + fmt::format(" {} elements are wrong.", chain.wrong) : text;
}

std::string part_words(const OwnedMatrix& matrix, int rank) {
    const OwnedMatrix::Part& part = matrix.parts[static_cast<size_t>(rank)];
    if (matrix.summands)
        return matrix.owner[static_cast<size_t>(rank)] == rank
                   ? "a summand"
                   : fmt::format("the same summand as rank {}", matrix.owner[static_cast<size_t>(rank)]);
    const auto range = [](const comm::Piece& piece) {
        return piece.count == 1 ? std::to_string(piece.begin)
                                : fmt::format("{}-{}", piece.begin, piece.begin + piece.count - 1);
    };
    const bool rows = part.rows.count < matrix.rows, columns = part.columns.count < matrix.columns;
    if (rows && columns) return fmt::format("rows {}, columns {}", range(part.rows), range(part.columns));
    if (rows) return "rows " + range(part.rows);
    if (columns) return "columns " + range(part.columns);
    return "all of it";
}

}  // namespace lockstep::gui
