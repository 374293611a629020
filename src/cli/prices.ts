import { readFile } from 'node:fs/promises'
import { asking, requireApiKey, textOf } from '../adapters/remote-service/request.js'
import type { Config } from '../config.js'
import { isJsonObject, type Json, type JsonObject } from '../kernel/json/json.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

interface ImportRequest {
  readonly file: string
  readonly list: string | undefined
  readonly url: string | undefined
}

/** The service checks and writes every price of the list before it responds. */
const RESPONSE_TIMEOUT_MS = 30_000

/** `tallytree prices import`: imports a file into a price list of the running service. Returns the exit code. */
export const importPrices = async ({ file, list, url }: ImportRequest, config: Config): Promise<number> => {
  const apiKey = requireApiKey(config.apiKey)
  const body = { ...(await pricesIn(file)), ...(list === undefined ? {} : { list }) }
  const ask = asking(url ?? `http://${config.host}:${config.port}`, apiKey, RESPONSE_TIMEOUT_MS)
  const response = await ask('/api/admin/prices', 'POST', JSON.stringify(body))
  const text = await textOf(response)
  if (response.statusCode !== 200)
    throw new OperatorError(`the service answered ${response.statusCode}: ${text.slice(0, 2000)}`)
  const imported = JSON.parse(text) as ImportedPrices
  process.stdout.write(
    `list ${imported.list}, version ${imported.version}: ${imported.published} prices published, ${imported.withdrawn} withdrawn, ` +
      `${imported.unchanged} unchanged\n`,
  )
  return 0
}

interface ImportedPrices {
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
