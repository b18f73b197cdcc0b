/* SPDX-License-Identifier: BSD-3-Clause */
/* What sanitizer the build has, and memory of this process that nobody may touch. */
#ifndef BATCHLAS_TESTS_SANITIZERS_H
#define BATCHLAS_TESTS_SANITIZERS_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define HAVE_THREAD_SANITIZER 1
#endif
#if __has_feature(memory_sanitizer)
#define HAVE_MEMORY_SANITIZER 1
#endif
#else
#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define HAVE_THREAD_SANITIZER 1
#endif
#endif

#if HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

#endif
