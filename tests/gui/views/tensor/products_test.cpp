// Matrix products, whole and cut over GPUs: sums and parts are those of the run, and the lessons' pictures read at any size.
#include <algorithm>

#include "app/gui/views/tensor/product_data.h"
#include "tests/gui/lesson_desk.h"

namespace gui_products_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("products cut by columns or by rows are the whole product again, with the parts that each GPU has") {
    const auto step = step_of(R"(
input x[3,4] = random
input W1[4,2] = normal 1
input W2[4,3] = normal 1
y1 = matmul(x, W1)
y2 = matmul(x, W2)
y = cat(y1, y2, 1)
input a1[3,2] = random
input a2[3,3] = random
param B1[4,2] = normal 1
param B2[4,3] = normal 1
z = linear(a1, B1) + linear(a2, B2)
v = matmul(x, W1)
)");
    const auto products = products_of(*step);
    REQUIRE(products.size() == 3);
    const MatrixProduct &columns = products[0], &rows = products[1];
    CHECK(columns.cut == MatrixProduct::Cut::columns);
    CHECK(columns.joined);
    CHECK(columns.y_name == "y");
    CHECK(columns.ends == std::vector<int64_t>{2, 5});
    CHECK(rows.cut == MatrixProduct::Cut::rows);
    CHECK(rows.y_name == "z");
    CHECK(rows.stored_by_rows);
    CHECK(rows.ends == std::vector<int64_t>{2, 5});
    CHECK(products[2].cut == MatrixProduct::Cut::none);
    const auto& y =
        *std::find_if(step->nodes.begin(), step->nodes.end(), [](const auto& n) { return n.name == "y"; })->value;
    CHECK(columns.y == y);  // as the engine's cat has it
    for (const MatrixProduct& it : {columns, rows})
        for (int64_t r = 0; r < it.rows; ++r)
            for (int64_t c = 0; c < it.columns; ++c) {
                const double ran = static_cast<double>(it.y[static_cast<size_t>(r * it.columns + c)]);
                CHECK(it.sum(r, c, 0, it.inner) == Approx(ran).epsilon(1e-5).margin(1e-5));
                double all = 0;
                int64_t from = 0;
                for (size_t p = 0; p < it.parts.size(); ++p) {
                    const double part = static_cast<double>(it.parts[p][static_cast<size_t>(r * it.columns + c)]);
                    CHECK(it.sum(r, c, from, it.ends[p]) == Approx(part).epsilon(1e-5).margin(1e-5));
                    from = it.ends[p];
                    all += part;
                }
                if (!it.parts.empty()) CHECK(all == Approx(ran).epsilon(1e-5).margin(1e-5));
            }
}

TEST_CASE("the lesson's kernels of products show the elements that they make") {
    const auto lesson = lessons::lesson_named("B04");
    REQUIRE(lesson.ok());
    size_t seen = 0;
    for (const lessons::Step& step : lesson.value().steps)
        for (const scene::Scene& scene : step.scenes) {
            if (scene.view != std::string("products")) continue;
            std::vector<scene::KernelArgument> arguments;
            for (const std::string& text : scene.arguments)
                arguments.push_back(std::move(scene::parse_argument(text).value()));
            const auto it = product_of(arguments, lesson.value().seed);
            REQUIRE(it);
            const auto ran = scene::run_scene(lesson.value(), scene, {});
            REQUIRE(ran.ok());
            const auto kernel = ran.value().as<scene::KernelResult>();
            REQUIRE(kernel->outputs.size() == 1);
            REQUIRE(kernel->outputs.front().count() == it->y.size());
            for (size_t i = 0; i < it->y.size(); ++i) CHECK(it->y[i] == kernel->outputs.front().as<float>()[i]);
            ++seen;
        }
    CHECK(seen == 3);
}

TEST_CASE("the lesson on products reads at any size, and shows what one block reads forward and back") {
    Desk desk({.lesson = "B04", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "products").find("row 0: 4 5 4 7") != std::string::npos);  // -1 + 2 + 6 is the last
    reads_at_any_size(desk);
    go_to(desk, 3);
    CHECK(said_by(desk, "products").find("row 0: 14") != std::string::npos);  // a question is open: the case before
    CHECK(said_by(desk, "products").find("row 1") == std::string::npos);
    answer(desk, 3);
    CHECK(said_by(desk, "products").find("row 1: 10") != std::string::npos);
    reads_at_any_size(desk);
    go_to(desk, 7);
    CHECK(said_by(desk, "products").find("8 blocks of 49 steps") != std::string::npos);
    CHECK(said_by(desk, "products").find("392 blocks of 1 steps") != std::string::npos);
    CHECK(desk.shows("8 of 80 SMs"));
    CHECK(desk.shows("80 of 80 SMs"));
    reads_at_any_size(desk);
}

TEST_CASE("tensor parallelism's picture has the parts of a sum, once they are answered") {
    Desk desk({.lesson = "C05", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "products").find("row 0: 22 28") != std::string::npos);
    reads_at_any_size(desk);
    go_to(desk, 2);
    CHECK(said_by(desk, "products").find("22") == std::string::npos);
    answer(desk, 2);
    REQUIRE(desk.shows("GPU 1 has"));
    CHECK(desk.shows("an all-reduce adds them"));
    CHECK(said_by(desk, "products").find("row 0: 22 28") !=
          std::string::npos);  // what was asked is known, and so is the sum
    reads_at_any_size(desk);
    for (const int step : {4, 5}) {
        go_to(desk, step);
        reads_at_any_size(desk);
    }
}

}  // namespace gui_products_test
