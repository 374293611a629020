import type { DemoCall } from './records.js'

/** Sends calls in batches. */
export const record = async (address: string, key: string, calls: readonly DemoCall[]): Promise<void> => {
  for (let from = 0; from < calls.length; from += 500) {
    const batch = calls
      .slice(from, from + 500)
      .flatMap(({ start, end }) => [
        { mode: 'start', req: { start } },
        ...(end === null ? [] : [{ mode: 'end', req: { end } }]),
      ])
    const response = await fetch(`${address}/call/upsert_batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batch }),
    })
    if (!response.ok) throw new Error(`the calls were refused: ${response.status} ${await response.text()}`)
  }
}
