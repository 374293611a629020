import { demoEvaluations, type Send } from './evaluation.js'
import { demoGateway } from './gateway.js'
import { demoMonth } from './month.js'
import { record } from './record.js'
import { demoRuns } from './runs.js'

/** What a service is filled with, so that every page has something to show. */
export const fill = async (
  service: { readonly address: string; readonly key: string; readonly send: Send },
  project: string,
  /** The address of a server of models. */
  models: string,
  { now = Date.now(), traces = 600 } = {},
): Promise<void> => {
  const { address, key, send } = service
  await record(address, key, demoMonth(project, now, traces))
  await record(address, key, await demoEvaluations(project, now, send))
  await demoRuns(project, now, send)
  await demoGateway(project, models, send)
}

/** Sends requests as an administrator; rejects what is refused. */
export const sender =
  (address: string, key: string): Send =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
