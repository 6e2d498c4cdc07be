// Functions that are called and not inlined, as CUDA kernels and as plain C++: tests/every/function_test.cpp compiles this
// text by every compiler for the machine, and includes it for the host. Each k_... is one thread's work for its number x.
#ifdef LOCKSTEP_HOST
#define FUNCTION inline
#define TABLE inline
#define KERNEL(name, type) inline type name##_of(int x)
#else
#define FUNCTION __device__ __noinline__
#define TABLE __device__
#define KERNEL(name, type)                                      \
    __device__ type name##_of(int x);                           \
    extern "C" __global__ void name(const int* in, type* out) { \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);   \
        out[i] = name##_of(in[i]);                              \
    }                                                           \
    __device__ type name##_of(int x)
#endif

typedef unsigned long long u64;

FUNCTION u64 factorial(int n) {
    return n <= 1 ? 1 : (u64)n * factorial(n - 1);
}
KERNEL(k_factorial, u64) {
    return factorial(x % 21);
}

FUNCTION int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
KERNEL(k_fibonacci, int) {
    return fibonacci(x % 14);
}

FUNCTION int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL(k_ackermann, int) {
    return ackermann(x % 3, x % 5);
}

FUNCTION int odd(int n);
FUNCTION int even(int n) {
    return n == 0 ? 1 : odd(n - 1) * 3 % 7;
}
FUNCTION int odd(int n) {
    return n == 0 ? 2 : even(n - 1) * 5 % 11;
}
KERNEL(k_mutual, int) {
    return even(x % 40);
}

FUNCTION void quicksort(int* a, int low, int high) {
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) ++i;
        while (a[j] > pivot) --j;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}
KERNEL(k_quicksort, int) {
    int a[24], n = 5 + x % 20;
    unsigned s = (unsigned)x;
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        a[i] = (int)(s >> 16);
    }
    quicksort(a, 0, n - 1);
    int sum = 0;
    for (int i = 0; i < n; ++i) sum = (sum * 31 + a[i] * (i + 1)) & 0xffffff;
    return sum;
}

struct Particle {
    int kind;
    float position[3];
    double mass;
    short spin;
    char tag[5];
};
FUNCTION Particle pushed(Particle p, float by, int times) {
    for (int i = 0; i < times; ++i) p.position[i % 3] += by;
    p.mass *= 1.5;
    p.spin = (short)(p.spin - times);
    p.tag[times % 5] = 'x';
    p.kind ^= times;
    return p;
}
FUNCTION double weigh(const Particle& p) {
    return p.mass * p.kind + p.position[0] + 2 * p.position[1] + 3 * p.position[2] + p.spin + p.tag[0] + p.tag[3];
}
KERNEL(k_structure, double) {
    Particle p = {x, {1, 2, 3}, 0.5, (short)(x % 100), {'a', 'b', 'c', 'd', 0}};
    Particle q = pushed(p, 0.25f, x % 7);
    return weigh(pushed(q, 0.5f, x % 3)) + weigh(p);
}

struct Shape {
    int size;
    FUNCTION explicit Shape(int s) : size(s) {}
    FUNCTION virtual int area(int scale) const { return size * scale; }
    FUNCTION virtual int corners() const { return 0; }
};
struct Square : Shape {
    FUNCTION explicit Square(int s) : Shape(s) {}
    FUNCTION int area(int scale) const override { return size * size * scale; }
    FUNCTION int corners() const override { return 4; }
};
struct Triangle : Square {
    FUNCTION explicit Triangle(int s) : Square(s + 1) {}
    FUNCTION int corners() const override { return area(1) > 20 ? 3 : -3; }
};
FUNCTION int look_at(const Shape* shape, int scale) {
    return shape->area(scale) * 10 + shape->corners();
}
KERNEL(k_virtual, int) {
    Shape shape(x % 9);
    Square square(x % 8);
    Triangle triangle(x % 7);
    const Shape* all[3] = {&shape, &square, &triangle};
    return look_at(all[x % 3], 1 + x % 4);
}

typedef int (*Operation)(int, int);
FUNCTION int op_add(int a, int b) {
    return a + b;
}
FUNCTION int op_subtract(int a, int b) {
    return a - b;
}
FUNCTION int op_multiply(int a, int b) {
    return a * b;
}
FUNCTION int op_power(int a, int b) {
    return b <= 0 ? 1 : a * op_power(a, b - 1);
}
TABLE Operation operations[4] = {op_add, op_subtract, op_multiply, op_power};
FUNCTION int fold(Operation operation, int n) {
    int value = 1;
    for (int i = 1; i < n; ++i) value = operation(value, i % 5) % 1000;
    return value;
}
KERNEL(k_pointer, int) {
    return operations[x % 4](x % 10, x % 7) + fold(operations[(x / 4) % 4], x % 11);
}

FUNCTION int chosen(int x) {
    switch (x) {
        case 0:
            return 17;
        case 1:
            return x * 3;
        case 2:
            return fibonacci(7);
        case 3:
            return -4;
        case 4:
            return x << 5;
        case 5:
            return 1 - x;
        case 6:
            return 1000 / x;
        case 7:
            return x ^ 0x55;
        case 8:
            return 12345;
        case 9:
            return op_power(3, 4);
        case 11:
            return 6;
        default:
            return -1;
    }
}
KERNEL(k_switch, int) {
    int sum = 0;
    for (int i = 0; i < 5; ++i) sum = sum * 3 + chosen((x + i * i) % 13);
    return sum;
}

struct Node {
    Node *left, *right;
    int value;
};
FUNCTION int depth_and_sum(const Node* node, int& sum) {
    if (!node) return 0;
    sum += node->value;
    int left = depth_and_sum(node->left, sum), right = depth_and_sum(node->right, sum);
    return 1 + (left > right ? left : right);
}
FUNCTION Node* insert(Node* node, Node* fresh) {
    if (!node) return fresh;
    if (fresh->value < node->value)
        node->left = insert(node->left, fresh);
    else
        node->right = insert(node->right, fresh);
    return node;
}
KERNEL(k_tree, int) {
    Node nodes[12];
    Node* root = nullptr;
    unsigned s = (unsigned)x * 7919u + 1u;
    for (int i = 0; i < 3 + x % 10; ++i) {
        s = s * 1103515245u + 12345u;
        nodes[i].left = nodes[i].right = nullptr;
        nodes[i].value = (int)(s >> 20);
        root = insert(root, &nodes[i]);
    }
    int sum = 0;
    int depth = depth_and_sum(root, sum);
    return depth * 100000 + sum % 100000;
}
