import type { Context, Next } from 'koa'
import type { RequestSeconds } from '../../kernel/ports/metrics.js'

const ROUTE = 'route'

export const noteRoute = (ctx: Context, path: string): void => {
  ctx.state[ROUTE] = path
}

/** Measures each request until its response ends. Unmatched paths share one label, to bound the number of series. */
export const measureRequests = (requestSeconds: RequestSeconds) => (ctx: Context, next: Next) => {
  const start = performance.now()
  ctx.res.once('close', () => {
    const route: unknown = ctx.state[ROUTE]
    const status = ctx.res.writableFinished ? `${Math.floor(ctx.res.statusCode / 100)}xx` : 'aborted'
    const labels =
      typeof route === 'string'
        ? { method: ctx.method, route, status }
        : { method: 'any', route: 'unmatched', status }
    requestSeconds.observe(labels, (performance.now() - start) / 1000)
  })
  return next()
}
