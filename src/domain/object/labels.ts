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
  // eslint-disable-next-line no-control-regex -- control characters are what this pattern is about
  /^(?!(?:latest|v\d+|[A-Za-z0-9]{43})$)(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u2028\u2029/:]{1,128}$/u,
  "String should have 1 to 128 characters, no control character, slash or colon, and not be blank, 'latest', " +
    "'v' with digits, or of a digest's form",
)
