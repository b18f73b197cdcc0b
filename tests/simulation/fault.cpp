/* SPDX-License-Identifier: BSD-3-Clause */
/* The first fault, and its story with the lines of the source. */
#include "simulation/internal.h"

#include <unistd.h>

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace simulation {
namespace {

struct record {
    std::string kind, sentence, story;
    std::vector<code_place> places;
    const void *kernel;
    unsigned block;
    int thread; // -1: the block's as a whole
};
record first;
bool is_known = false;

void remember(const char *kind, std::vector<code_place> places, const char *format,
              va_list arguments) {
    if (is_known)
        return;
    char sentence[1024];
    vsnprintf(sentence, sizeof sentence, format, arguments);
    is_known = true;
    first = {kind,
             sentence,
             "",
             std::move(places),
             running_kernel(),
             here.block.x,
             running_clock() ? static_cast<int>(running_clock()->self) : -1};
}

/* "function" and "file:line" of an address, as the debug information has them. */
std::vector<std::string> symbolise(const void *code) {
    char program[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char command[PATH_MAX + 256];
    snprintf(command, sizeof command,
             "%s --obj=%s --basenames --relative-address 0x%zx 2>/dev/null", SYMBOLIZER, program,
             program_offset(code));
    std::vector<std::string> lines;
    FILE *const pipe = popen(command, "r");
    char line[2048];
    while (pipe && fgets(line, sizeof line, pipe)) {
        std::string text = line;
        while (!text.empty() && text.back() == '\n')
            text.pop_back();
        if (!text.empty())
            lines.push_back(text);
    }
    if (pipe)
        pclose(pipe);
    return lines;
}

/* Lines of the source, innermost first. */
std::string lines_of(const void *code) {
    // A return address is one past its call.
    const std::vector<std::string> found = symbolise(static_cast<const char *>(code) - 1);
    std::string text;
    for (size_t i = 1; i < found.size() && i < 8; i += 2)
        text += (i > 1 ? " in " : "") + found[i].substr(0, found[i].rfind(':'));
    return text.empty() ? "unknown lines" : text;
}

std::string tell(const record &r) {
    const std::vector<std::string> kernel = symbolise(r.kernel);
    std::string text = r.kind + ": " + r.sentence + "\n  kernel " +
                       (kernel.size() < 2 ? "unknown" : kernel[kernel.size() - 2]) + ", block " +
                       std::to_string(r.block) +
                       (r.thread >= 0 ? ", thread " + std::to_string(r.thread) : "");
    for (const code_place &place : r.places)
        text += std::string("\n  ") + place.doing +
                (place.thread == another_block ? "" : " thread " + std::to_string(place.thread)) +
                " at " + lines_of(place.code);
    return text;
}

} // namespace

void record_fault(const char *kind, std::vector<code_place> places, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    remember(kind, std::move(places), format, arguments);
    va_end(arguments);
}

void fault(const char *kind, std::vector<code_place> places, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    remember(kind, std::move(places), format, arguments);
    va_end(arguments);
    abandon_launch();
}

} // namespace simulation

using namespace simulation;

const char *simulation_fault(void) {
    if (!is_known)
        return nullptr;
    if (first.story.empty())
        first.story = tell(first);
    return first.story.c_str();
}

const char *simulation_fault_kind(void) {
    return is_known ? first.kind.c_str() : nullptr;
}

void simulation_forget_fault(void) {
    is_known = false;
}

/* Here and not where launches are, so that a linker can put another one in its place. */
bool simulation_grants_launch(void) {
    return true;
}
