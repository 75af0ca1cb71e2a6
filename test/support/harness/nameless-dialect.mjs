export default { path: "/v2" };
