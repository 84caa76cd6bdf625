export function createSettings() {}
