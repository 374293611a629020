const NOBODY: ReadonlySet<string> = new Set()

/** The calls under way in each scope, whether or not it has a limit: one may be chosen while they last. */
export class UnderWay {
  private readonly byScope = new Map<string, Set<string>>()

  /** In the order in which they came. */
  of(scope: string): ReadonlySet<string> {
    return this.byScope.get(scope) ?? NOBODY
  }

  enter(scopes: readonly string[], call: string): void {
    for (const scope of scopes) {
      const calls = this.byScope.get(scope)
      if (calls === undefined) this.byScope.set(scope, new Set([call]))
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
