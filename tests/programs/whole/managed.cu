// Managed memory, allocated and as __managed__ variables: host and device write the same words.
#include "check.h"

__managed__ int counter = 7;
__managed__ float table[64];

struct Node {
    int value;
    Node* next;
};

__global__ void work(Node* list, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        list[i].value += i;
        table[i % 64] += 1.0f;
        atomicAdd(&counter, 1);
    }
}

int main() {
    const int n = 64;
    Node* list;
    CHECK(cudaMallocManaged(&list, n * sizeof(Node)));
    for (int i = 0; i < n; ++i) {
        list[i].value = 100;
        list[i].next = i + 1 < n ? list + i + 1 : nullptr;
    }
    EXPECT(counter == 7);
    counter = 1000;
    table[3] = 0.5f;
    CHECK(cudaMemPrefetchAsync(list, n * sizeof(Node), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
    work<<<2, 32>>>(list, n);
    CHECK(cudaDeviceSynchronize());
    int i = 0;
    for (const Node* node = list; node; node = node->next, ++i) EXPECT(node->value == 100 + i);
    EXPECT(i == n && counter == 1000 + n);
    EXPECT(table[3] == 1.5f && table[4] == 1.0f);
    CHECK(cudaFree(list));
    return pass();
}
