import type { Json } from '../../../domain/json/json.js'
import type { Upstream } from '../../../domain/upstream/directory.js'
import { scrubbing, soughtSecret } from '../../../domain/webhook/scrub.js'
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
    const { body } = scrubbing([soughtSecret(secrets)])({
      headers: {},
      body: new TextEncoder().encode(JSON.stringify(said)),
    })
    try {
      return JSON.parse(new TextDecoder().decode(body)) as Json
    } catch {
      return null
    }
  }
