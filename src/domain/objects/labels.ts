import { textLike } from '../../kernel/codec/text.js'

/** A label of versions: a version may have many tags, and a tag many versions. */
export const tagName = textLike(
  'tag',
  /^(?=.{1,256}$)[-_\p{L}\p{N}]+(?: [-_\p{L}\p{N}]+)*$/u,
  'String should have 1 to 256 letters, digits, hyphens, underscores and single spaces between words',
)

/**
 * A name for one version of an object at a time. It is used in place of a digest, so it must not look like a digest,
 * `latest` or a version number.
 */
export const aliasName = textLike(
  'alias',
  /^(?!(?:latest|v\d+|[A-Za-z0-9]{43})$)(?=.*\S)[^\p{Cc}\u2028\u2029/:]{1,128}$/u,
  "String should have 1 to 128 characters without control characters, slashes or colons, and not be blank, 'latest', " +
    "'v' followed by digits, or look like a digest",
)
