import type { Json } from '../../../domain/json/json.js'
import type { Upstream } from '../../../domain/upstream/directory.js'
import { redactSecrets, secretMatcher } from '../../../domain/secret/redact-secrets.js'
import type { Inference } from '../inference.js'

/** Takes the secrets of an upstream's team out of what it said, in every form in which it may have given them back. */
export const withoutSecrets =
  (
    { secretsOf }: Pick<Inference['inference'], 'secretsOf'>,
    upstream: Upstream,
    bearer: string | null,
  ): ((said: Json) => Promise<Json>) =>
  async (said) => {
    const secrets = [...(bearer === null ? [] : [bearer]), ...(await secretsOf(upstream))]
    const redacted = redactSecrets([secretMatcher(secrets)])(JSON.stringify(said))
    try {
      return JSON.parse(redacted) as Json
    } catch {
      return null
    }
  }
