import { leaf } from '../../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { integerBetween, number } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import { urlProblem } from '../../secrets/credentials.js'
import { secretName } from '../../secrets/secret.js'

const above = (least: number, most: number) =>
  leaf<number>(
    'number',
    (u): u is number => number.is(u) && u > least && u <= most,
    { type: 'value_error', msg: `Input should be a number greater than ${least} and at most ${most}` },
    { type: 'number', exclusiveMinimum: least, maximum: most },
  )

const MAX_TIMEOUT_S = 300
const MAX_CONCURRENCY = 64
const MAX_PER_SECOND = 10_000

/** Parameters of our `HTTPScorer`: each row is posted to `url`, signed with a secret of the team. */
export const httpSettings = open('HTTPScorer', {
  required: { url: textUpToBytes(2048), secret: secretName },
  optional: {
    timeout_s: withDefault(above(0, MAX_TIMEOUT_S), 30, true),
    max_concurrency: withDefault(integerBetween(1, MAX_CONCURRENCY), 4, true),
    /** Requests that start within a second; null for no limit. */
    max_per_second: nullable(above(0, MAX_PER_SECOND)),
  },
})

/** A rule that a URL of the right type breaks; the URL itself is not quoted. */
export const httpProblem = ({ url }: { readonly url: string }): string | undefined => {
  const problem = urlProblem(url, 'the signature')
  return problem === undefined ? undefined : `url: ${problem}`
}
