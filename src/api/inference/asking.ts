import { askedOf, type CompletionRequest } from '../../domain/completion/request.js'
import type { JsonObject } from '../../domain/json/json.js'
import { UpstreamFault, type UpstreamAnswer } from '../../domain/ports/upstream-client.js'
import type { Target } from '../../domain/upstream/offered.js'
import type { Failure } from '../failure.js'
import type { Inference } from './inference.js'
import { failureOfFault, failureOfStatus } from './upstream-failure.js'
import { readWhole } from './read-whole.js'

/** One try at an upstream, as the call keeps it. */
interface Try extends JsonObject {
  readonly upstream: string
  readonly outcome: string
}

export interface Asked {
  readonly target: Target
  readonly answer: UpstreamAnswer
  readonly tries: readonly Try[]
}

/** Every target was asked that could be; the last one's failure counts. */
export class NobodyAnswered extends Error {
  override readonly name = 'NobodyAnswered'
  constructor(
    readonly failure: Failure,
    readonly tries: readonly Try[],
    readonly isAborted: boolean,
  ) {
    super(failure.reason)
  }
}

/** Asks the targets in turn until one answers with a head that says it will do it. */
export const ask = async (
  { inference: { upstreamClient, credentialOf } }: Pick<Inference, 'inference'>,
  request: CompletionRequest,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<Asked> => {
  const tries: Try[] = []
  let failure: Failure | undefined
  for (const target of targets) {
    const { upstream, model } = target
    const { base_url, timeouts, continuous_usage_stats } = upstream.content
    try {
      const credential = await credentialOf(upstream)
      const answer = await upstreamClient.ask(
        {
          url: `${base_url.replace(/\/+$/, '')}/chat/completions`,
          headers: {
            'content-type': 'application/json',
            accept: request.stream ? 'text/event-stream' : 'application/json',
            ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
          },
          body: JSON.stringify(askedOf(request, model.upstream_id, continuous_usage_stats)),
          timeouts,
          isGuarded: upstream.team !== null,
          isFresh: false,
        },
        signal,
      )
      if (answer.status === 200) {
        tries.push({ upstream: upstream.content.name, outcome: 'answered' })
        return { target, answer, tries }
      }
      tries.push({ upstream: upstream.content.name, outcome: `status ${answer.status}` })
      failure = failureOfStatus(
        answer.status,
        answer.headers,
        await readWhole(answer.body).catch(() => undefined),
      )
      if (answer.status === 400 || answer.status === 422) break
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error
      tries.push({ upstream: upstream.content.name, outcome: error.message })
      failure = failureOfFault(error)
      if (error.kind === 'aborted') throw new NobodyAnswered(failure, tries, true)
    }
  }
  throw new NobodyAnswered(failure!, tries, false)
}
