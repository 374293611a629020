/** What one call used, over all models. */
export interface Used {
  readonly requests: number
  readonly prompt: number
  readonly completion: number
  readonly total: number
}

export interface Call {
  readonly id: string
  readonly parent_id: string | null
  readonly started_at: string
  readonly summary: { readonly weave: { readonly status: string; readonly trace_name: string } }
}

interface ModelUsage {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface Trace {
  readonly calls: readonly Call[]
  /** By call, with everything below it. */
  readonly inclusive: ReadonlyMap<string, Used>
}

const ANSWERS_WITHIN_MS = 60_000
const MOST_TRIES = 30

/** Asks the service for the calls of a project and what they used. */
export const readTrace = async (project_id: string, address: string, key: string): Promise<Trace> => {
  const ask = async (path: string, tries = 1): Promise<string> => {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    })
    const text = await response.text()
    // What was written last may not be readable yet: the service has waited, and says so.
    if (response.status === 503 && tries < MOST_TRIES) return ask(path, tries + 1)
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`)
    return text
  }
  const lines = (await ask('/calls/stream_query')).trim().split('\n')
  const usage = JSON.parse(await ask('/trace/usage')) as {
    call_usage: Readonly<Record<string, Readonly<Record<string, ModelUsage>>>>
    unfinished_call_ids: readonly string[]
  }
  if (usage.unfinished_call_ids.length > 0) throw new Error('the service has not seen every call end')
  return {
    calls: lines.map((line) => JSON.parse(line) as Call),
    inclusive: new Map(
      Object.entries(usage.call_usage).map(([id, byModel]) => [
        id,
        sumOf(Object.values(byModel).map(usedOf)),
      ]),
    ),
  }
}

const usedOf = (usage: ModelUsage): Used => ({
  requests: usage.requests,
  prompt: usage.prompt_tokens,
  completion: usage.completion_tokens,
  total: usage.total_tokens,
})

const combined = (a: Used, b: Used, sign: 1 | -1): Used => ({
  requests: a.requests + sign * b.requests,
  prompt: a.prompt + sign * b.prompt,
  completion: a.completion + sign * b.completion,
  total: a.total + sign * b.total,
})

export const NOTHING: Used = { requests: 0, prompt: 0, completion: 0, total: 0 }

const sumOf = (all: readonly Used[]): Used => all.reduce((sum, one) => combined(sum, one, 1), NOTHING)

/** What a call used itself: what it used with its children, less what they used. */
export const ownOf = ({ calls, inclusive }: Trace, { id }: Call): Used =>
  calls
    .filter(({ parent_id }) => parent_id === id)
    .reduce(
      (left, child) => combined(left, inclusive.get(child.id) ?? NOTHING, -1),
      inclusive.get(id) ?? NOTHING,
    )
