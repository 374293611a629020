import { readFile } from 'node:fs/promises'
import { asking, requireApiKey, textOf } from '../adapters/remote-service/request.js'
import type { Config } from '../config.js'
import { isJsonObject, type Json, type JsonObject } from '../domain/json/json.js'
import { OperatorError } from '../domain/ports/operator-error.js'

interface Asked {
  readonly file: string
  readonly list: string | undefined
  readonly url: string | undefined
}

/** Every price of a list is checked and written before the answer. */
const ANSWER_WITHIN_MS = 30_000

/** `tallytree prices import`: a file's prices into a list of the running service; answers the exit code. */
export const importPrices = async ({ file, list, url }: Asked, config: Config): Promise<number> => {
  const apiKey = requireApiKey(config.apiKey)
  const body = { ...(await pricesIn(file)), ...(list === undefined ? {} : { list }) }
  const ask = asking(url ?? `http://${config.host}:${config.port}`, apiKey, ANSWER_WITHIN_MS)
  const answer = await ask('/api/admin/prices', 'POST', JSON.stringify(body))
  const text = await textOf(answer)
  if (answer.statusCode !== 200)
    throw new OperatorError(`the service answered ${answer.statusCode}: ${text.slice(0, 2000)}`)
  const said = JSON.parse(text) as Imported
  process.stdout.write(
    `list ${said.list}, version ${said.version}: ${said.published} prices published, ${said.withdrawn} withdrawn, ` +
      `${said.unchanged} unchanged\n`,
  )
  return 0
}

interface Imported {
  readonly list: string
  readonly version: string
  readonly published: number
  readonly withdrawn: number
  readonly unchanged: number
}

const pricesIn = async (file: string): Promise<JsonObject> => {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(`cannot read ${file}`, { cause })
  }
  const prices = parsed(text)
  if (isJsonObject(prices)) return prices
  throw new OperatorError(`${file} is not a JSON object: see docs/prices.md for the format`)
}

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
