import { buildSchema } from 'graphql'
import { artifacts } from './sdl/artifacts.js'
import { root } from './sdl/root.js'
import { runs } from './sdl/runs.js'

/** The part of the vendor's GraphQL schema that the packages `weave` and `wandb` use. */
export const schema = buildSchema(root + runs + artifacts)
