import { Failure } from '../application/failure.js'
import type { Principal } from '../application/principal.js'

/** Whose upstreams a key may use. */
export const teamsOf = ({ administrator, teams }: Principal): 'all' | readonly string[] =>
  administrator ? 'all' : teams

export const noSuchModel = (): Failure =>
  new Failure(
    'not-found',
    'The model does not exist, or the API key has no access to it. GET /v1/models lists the available models.',
    { param: 'model', code: 'model_not_found' },
  )
