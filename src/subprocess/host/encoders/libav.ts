import koffi, { type LibraryHandle } from "koffi";

/**
 * The offsets, in bytes, of those fields of structures that no function sets. They are the same in
 * all versions with these major numbers, on processors of 64 bits.
 */
const ffmpeg5 = {
  context: { sampleFormat: 360, frameSize: 364 },
  frame: { data: 0, samples: 112, format: 116, time: 136, sampleRate: 208, channelLayout: 448, size: 472 },
  muxer: { output: 32 },
  output: { buffer: 8 },
  stream: { timeBase: 16, metadata: 64, parameters: 208 },
} as const;
const ffmpeg6 = { ...ffmpeg5, stream: { timeBase: 32, metadata: 80, parameters: 16 } } as const;
const ffmpeg7 = {
  ...ffmpeg6,
  context: { sampleFormat: 348, frameSize: 376 },
  frame: { ...ffmpeg5.frame, sampleRate: 192, channelLayout: 408, size: 440 },
} as const;

/**
 * The major numbers of the libraries of ffmpeg 5.1 (Debian 12), 6.1 (Ubuntu 24.04) and 7.1 (Debian
 * 13).
 */
const releases = [
  { util: 57, codec: 59, format: 59, resample: 4, offsets: ffmpeg5 },
  { util: 58, codec: 60, format: 60, resample: 4, offsets: ffmpeg6 },
  { util: 59, codec: 61, format: 61, resample: 5, offsets: ffmpeg7 },
] as const;

const quiet = -8; // AV_LOG_QUIET

export interface Rational {
  readonly num: number;
  readonly den: number;
}
const rational = koffi.struct({ num: "int", den: "int" });

const writePacket = koffi.pointer(koffi.proto("int (void *opaque, void *bytes, int size)"));

export type Libav = ReturnType<typeof openLibav>;

/**
 * Opens the libraries that the program ffmpeg consists of. The program takes 60 ms of CPU time
 * before its first sample, mostly to link 200 libraries.
 * @param version the version of the program ffmpeg
 * @param folder the folder of the libraries, with a slash at its end, or an empty string
 * @throws {Error} if they are not installed, or not as expected
 */
export const openLibav = (version: string, folder = "") => {
  const release = releases.find(({ util }) => versionOf(`${folder}libavutil.so.${util}`) === version);
  if (!release) throw new Error(`The libraries of ffmpeg ${version} are not supported or not installed.`);
  const util = koffi.load(`${folder}libavutil.so.${release.util}`);
  const codec = koffi.load(`${folder}libavcodec.so.${release.codec}`);
  const format = koffi.load(`${folder}libavformat.so.${release.format}`);
  const resample = koffi.load(`${folder}libswresample.so.${release.resample}`);
  util.func("void av_log_set_level(int level)")(quiet);

  return {
    offsets: release.offsets,
    malloc: allocating(util, "void *av_malloc(size_t size)"),
    free: util.func("void av_free(void *memory)"),
    setOption: util.func(
      "int av_opt_set(void *object, const char *name, const char *value, int searchFlags)",
    ),
    setEntry: util.func("int av_dict_set(void *dictionary, const char *key, const char *value, int flags)"),
    sampleFormat: util.func("int av_get_sample_fmt(const char *name)"),
    allocFrame: allocating(util, "void *av_frame_alloc()"),
    freeFrame: util.func("void av_frame_free(_Inout_ void **frame)"),

    allocPacket: allocating(codec, "void *av_packet_alloc()"),
    rescaleTimes: codec.func("av_packet_rescale_ts", "void", ["void *", rational, rational]),
    freePacket: codec.func("void av_packet_free(_Inout_ void **packet)"),
    findEncoder: codec.func("void *avcodec_find_encoder_by_name(const char *name)"),
    allocContext: allocating(codec, "void *avcodec_alloc_context3(void *codec)"),
    openContext: codec.func("int avcodec_open2(void *context, void *codec, void *options)"),
    sendFrame: codec.func("int avcodec_send_frame(void *context, void *frame)"),
    receivePacket: codec.func("int avcodec_receive_packet(void *context, void *packet)"),
    freeContext: codec.func("void avcodec_free_context(_Inout_ void **context)"),
    copyParameters: codec.func("int avcodec_parameters_from_context(void *parameters, void *context)"),

    allocMuxer: format.func(
      "int avformat_alloc_output_context2(_Out_ void **muxer, void *format, const char *name, const char *file)",
    ),
    addStream: allocating(format, "void *avformat_new_stream(void *muxer, void *codec)"),
    allocOutput: allocating(
      format,
      "void *avio_alloc_context(void *buffer, int size, int isOutput, void *opaque, void *read, void *write, void *seek)",
    ),
    flushOutput: format.func("void avio_flush(void *output)"),
    freeOutput: format.func("void avio_context_free(_Inout_ void **output)"),
    writeHeader: format.func("int avformat_write_header(void *muxer, void *options)"),
    writePacket: format.func("int av_write_frame(void *muxer, void *packet)"),
    writeTrailer: format.func("int av_write_trailer(void *muxer)"),
    freeMuxer: format.func("void avformat_free_context(void *muxer)"),

    allocResampler: allocating(resample, "void *swr_alloc()"),
    startResampler: resample.func("int swr_init(void *resampler)"),
    resample: resample.func(
      "int swr_convert(void *resampler, void **to, int space, void **from, int samples)",
    ),
    freeResampler: resample.func("void swr_free(_Inout_ void **resampler)"),

    readRational: (structure: bigint, offset: number): Rational => koffi.decode(structure, offset, rational),
    /**
     * Registers a function with which a muxer writes. Call `unregister` when the muxer is freed.
     */
    registerWriter: (write: (bytes: Buffer) => void) => {
      const callback = (_opaque: unknown, bytes: bigint, size: number): number => {
        write(Buffer.from(new Uint8Array(koffi.view(bytes, size)))); // a copy
        return size;
      };
      const writer = koffi.register(callback, writePacket);
      return { writer, unregister: () => koffi.unregister(writer) };
    },
  };
};

/** Returns a function of the library that allocates memory. It throws if there is no memory. */
const allocating = (library: LibraryHandle, definition: string) => {
  const allocate = library.func(definition);
  return (...args: readonly unknown[]): bigint => {
    const memory: bigint | null = allocate(...args);
    if (memory === null) throw new Error(`${allocate.info.name} returned no memory.`);
    return memory;
  };
};

/** Returns undefined if the library cannot be loaded. */
const versionOf = (utilLibrary: string): string | undefined => {
  try {
    return koffi.load(utilLibrary).func("const char *av_version_info()")();
  } catch {
    return undefined;
  }
};
