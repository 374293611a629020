import type { Problem } from '../../kernel/codec/problem.js'
import { headerSecrets } from './static-headers.js'

type Headers = Readonly<Record<string, string>>

/** Names of headers and of query parameters whose values are credentials by custom. */
const CREDENTIAL =
  /^(?:cookie2?|set-cookie2?|key|sig)$|(?:^|[-_])(?:auth|authorization|api-?key|(?:api|auth|access|secret|private|functions|subscription)[-_]key|token|secret|password|credentials?|jwt)$/i

const REDACTED = '[secret]'

const isPlainCredential = ([name, value]: readonly [name: string, value: string]): boolean =>
  CREDENTIAL.test(name) && headerSecrets({ [name]: value }).length === 0

/** Refuses credentials that are written out: they would be in the log. `instead` says which option is for them. */
export const credentialProblems = (
  headers: Headers | null | undefined,
  instead: string,
  place = 'headers',
): readonly Problem[] =>
  Object.entries(headers ?? {})
    .filter(isPlainCredential)
    .map(([name]) => ({
      loc: [place, name],
      type: 'value_error',
      msg: `A credential may not be written out here, because the log keeps it: use ${instead}, or store it as a secret of the team and write its name, as in "$NAME"`,
    }))

/** Headers as they may be shown: earlier releases took credentials that are written out. */
export const withoutCredentials = <H extends Headers | null>(headers: H): H =>
  headers === null
    ? headers
    : (Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          isPlainCredential([name, value]) ? REDACTED : value,
        ]),
      ) as H)

/** Headers that were sent, where secrets are redacted already. */
export const withoutSentCredentials = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      CREDENTIAL.test(name) && !value.includes(REDACTED) ? REDACTED : value,
    ]),
  )

/** Checks only the URL. Whether the address is allowed is checked on each connection. */
export const urlProblem = (text: string, credential: string): string | undefined => {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed === undefined || !/^https?:\/\//i.test(text) || /[\p{Cc}\s]/u.test(text))
    return "Input should be a URL that starts with 'http://' or 'https://', without whitespace"
  if (parsed.username !== '' || parsed.password !== '')
    return `A URL should not contain a user or a password: use ${credential} instead`
  return undefined
}
