// Linked with one whole library and its declared dependencies: that it links is the test.
int main() { return 0; }
