import { textLike } from '../codec/text.js'

/** A word that describes a version; one version has many, and many versions have the same. */
export const tagName = textLike(
  'tag',
  /^(?=.{1,256}$)[-_\p{L}\p{N}]+(?: [-_\p{L}\p{N}]+)*$/u,
  'String should have 1 to 256 letters, digits, hyphens, underscores and single spaces between words',
)

/**
 * A name that points at one version of an object at a time. It is written where a digest is written, and so it is
 * never what could be one, or `latest`, or the number of a version.
 */
export const aliasName = textLike(
  'alias',
  /^(?!(?:latest|v\d+|[A-Za-z0-9]{43})$)(?=.*\S)[^\p{Cc}\u2028\u2029/:]{1,128}$/u,
  "String should have 1 to 128 characters without control characters, slashes or colons, and not be blank, 'latest', " +
    "'v' followed by digits, or look like a digest",
)
