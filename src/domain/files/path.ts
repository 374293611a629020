import { textLike, utf8Bytes } from '../../kernel/codec/text.js'

/** Readers join the path to a folder of theirs: it must not leave that folder, on Windows neither. */
const PATH = /^(?![A-Za-z]:|[/\\]|(?:.*[/\\])?\.\.(?:[/\\]|$))[^\p{Cc}\p{Cs}]+$/u

export const PATH_RULE =
  "the path of a file has no part '..' and no control characters, and begins with no slash, backslash or drive"

export const isFilePath = (path: string): boolean => PATH.test(path)

const MAX_BYTES = 1024

export const filePath = textLike(
  'path',
  PATH,
  `String should have 1 to ${MAX_BYTES} bytes: ${PATH_RULE}`,
  (path) => isFilePath(path) && utf8Bytes(path) <= MAX_BYTES,
)
