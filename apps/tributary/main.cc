#include "tributary/cli/main.h"

int main(int argc, char** argv) { return tributary::Main(argc, argv); }
