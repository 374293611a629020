/** Streams of calls. */
export type CallStreams = Iterable<string> & { readonly size: number }

const NO_CALLS = new Set<string>()

/** Calls in flight per scope. Scopes without a limit are counted too, since one may be set meanwhile. */
export class CallsInFlight {
  private readonly byScope = new Map<string, Set<string>>()

  /** In the order of admission. */
  of(scope: string): CallStreams {
    return this.byScope.get(scope) ?? NO_CALLS
  }

  enter(scopes: readonly string[], call: string): void {
    for (const scope of scopes) {
      const calls = this.byScope.get(scope)
      if (calls === undefined) this.byScope.set(scope, new Set<string>().add(call))
      else calls.add(call)
    }
  }

  leave(scopes: readonly string[], call: string): void {
    for (const scope of scopes) {
      const calls = this.byScope.get(scope)
      calls?.delete(call)
      if (calls?.size === 0) this.byScope.delete(scope)
    }
  }
}
