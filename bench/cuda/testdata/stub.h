// What the stubs of libraries share: a log that a test reads, and calls that it makes fail. Every call
// checks what it is given, and answers with the code of an invalid value what the library could not use.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char log_text[1 << 18];
static char failing[64];
static int failing_with;
static int held; // descriptions that were not destroyed

const char *stub_log(void) { return log_text; }
void stub_clear(void) { log_text[0] = 0; }
long stub_held(void) { return held; }
// stub_fail makes a function fail until it is told another name.
void stub_fail(const char *call, int code) {
  snprintf(failing, sizeof failing, "%s", call);
  failing_with = code;
}

static void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t used = strlen(log_text);
  vsnprintf(log_text + used, sizeof log_text - used, format, args);
  va_end(args);
}

// rest sleeps as long as it says: a signal, as Go sends them to its threads, ends a sleep early.
static inline void rest(long milliseconds) {
  struct timespec left = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left)) {
  }
}

#define CALL(name) do { if (!strcmp(failing, #name)) return failing_with; } while (0)
#define NEED(condition) do { if (!(condition)) { note("  bad: %s: %s\n", __func__, #condition); return INVALID; } } while (0)

// Elements of each type, as the host computes with them.
static inline float bits_float(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static inline uint32_t float_bits(float f) { uint32_t bits; memcpy(&bits, &f, 4); return bits; }
static inline float bf16_float(uint16_t x) { return bits_float((uint32_t)x << 16); }
static inline uint16_t float_bf16(float f) { uint32_t b = float_bits(f); return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16); }
static inline float fp16_float(uint16_t x) { _Float16 h; memcpy(&h, &x, 2); return (float)h; }
static inline uint16_t float_fp16(float f) { _Float16 h = (_Float16)f; uint16_t x; memcpy(&x, &h, 2); return x; }
// What a tensor core reads of fp32 in tf32.
static inline float cut_tf32(float f) { return bits_float(float_bits(f) & ~0x1fffu); }
