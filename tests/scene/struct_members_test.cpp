#include "core/scene/arguments/struct_members.h"

#include "tests/catch.h"

namespace scene_struct_members_test {

using namespace lockstep::scene;

namespace {

std::string listed(const std::string& text, const std::string& type) {
    std::string all;
    for (const auto& member : struct_members(text, type)) all += member.name + "@" + std::to_string(member.at) + " ";
    return all;
}

}  // namespace

TEST_CASE("members of a struct lie where C++ puts them") {
    CHECK(listed("struct Matrix { int width, height; float *elements; };", "Matrix") == "width@0 height@4 elements@8 ");
    CHECK(listed("typedef struct { char tag; double x; short s[3]; float3 v; } Row;", "Row") == "tag@0 x@8 s@16 v@24 ");
    CHECK(listed("struct In { float a; int *p; }; struct Out { char c; In in; float4 last; };", "Out") ==
          "c@0 in.a@8 in.p@16 last@32 ");
    CHECK(listed("struct V { float x; __device__ float get() const { return x; } unsigned n; };", "V") == "x@0 n@4 ");
}

TEST_CASE("a struct that is not understood has no members") {
    CHECK(listed("struct A : B { int x; };", "A").empty());
    CHECK(listed("template <class T> struct A { T x; };", "A").empty());
    CHECK(listed("struct A { int x : 3; };", "A").empty());
    CHECK(listed("struct A { union { int i; float f; }; };", "A").empty());
    CHECK(listed("struct A { int x; };", "B").empty());
}

TEST_CASE("a kernel's parameters are named with their members") {
    const std::string text = "struct M { int n; float *e; };\n__global__ void k(const M m, float *y, int n) {}";
    const auto names = named_parameters(text, "k");
    REQUIRE(names.size() == 3);
    CHECK(names[0].name == "m");
    REQUIRE(names[0].members.size() == 2);
    CHECK(names[0].members[1].name == "e");
    CHECK(names[0].members[1].at == 8);
    CHECK(names[1].name == "y");
    CHECK(names[1].members.empty());
}

}  // namespace scene_struct_members_test
