import { setTimeout as sleep } from 'node:timers/promises'

export const PROJECT = 'bench/live'

const TEXT = 'The quick brown fox jumps over the lazy dog, again and again, until the log is full. '.repeat(
  10,
)
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'own-model']

/** Complete calls of a trace, of about 2 KB each; `first` is the number of the first one. */
export const newTrace = (trace: string, calls: number, startedAt: number, first = 0): readonly object[] =>
  Array.from({ length: calls }, (_, i) => {
    const n = first + i
    const at = startedAt + i * 10
    const isModel = n % 2 === 1
    return {
      project_id: PROJECT,
      id: `${trace}-${n}`,
      trace_id: trace,
      parent_id: n === 0 ? null : `${trace}-${Math.floor((n - 1) / 8)}`,
      op_name: `weave:///${PROJECT}/op/${n === 0 ? 'agent' : isModel ? 'chat' : `tool-${n % 7}`}:v1`,
      started_at: new Date(at).toISOString(),
      ended_at: new Date(at + 100 + (n % 900)).toISOString(),
      attributes: { environment: n % 10 === 0 ? 'staging' : 'production' },
      inputs: { prompt: `${TEXT} ${trace} ${n}` },
      output: { answer: `${TEXT} ${n}` },
      exception: n % 50 === 0 && trace.endsWith('7') ? 'RuntimeError: failed' : null,
      summary: isModel
        ? {
            usage: {
              [MODELS[n % MODELS.length]!]: {
                requests: 1,
                prompt_tokens: 100 + (n % 50),
                completion_tokens: 20 + (n % 9),
              },
            },
          }
        : {},
    }
  })

/** Writes complete calls in batches, and asks. */
export class LiveLoad {
  constructor(
    private readonly address: string,
    private readonly key: string,
  ) {}

  async post(path: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`${this.address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  async write(batch: readonly object[]): Promise<void> {
    const [entity, project] = PROJECT.split('/')
    const { status, text } = await this.post(`/v2/${entity}/${project}/calls/complete`, { batch })
    if (status === 503) return sleep(100).then(() => this.write(batch))
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
  }

  /** Writes traces of 50 calls at a rate; returns how to stop, which resolves to the calls a second that were written. */
  keepWriting(rate: number): () => Promise<number> {
    const name = `live-${Date.now()}`
    const begin = performance.now()
    let isStopped = false
    let written = 0
    const run = async () => {
      while (!isStopped) {
        const now = performance.now()
        const due = begin + (written / rate) * 1000
        if (due > now) await sleep(due - now)
        await this.write(newTrace(`${name}-${written}`, 50, Date.now()))
        written += 50
      }
    }
    const running = run()
    return async () => {
      isStopped = true
      await running
      return written / ((performance.now() - begin) / 1000)
    }
  }
}
